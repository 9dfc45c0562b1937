//! Numbers given as an integer times a power of ten.

/// Returns `number × 10^power`. For a negative power it divides by a positive power of ten, which is exact.
pub(super) fn scaled(number: i64, power: i32) -> f64 {
    let number = number as f64;
    if (-300..0).contains(&power) {
        number / 10_f64.powi(-power)
    } else {
        number * 10_f64.powi(power)
    }
}

pub(super) fn log_of(multiple: i64, power: i32) -> f64 {
    scaled(multiple, 0).log10() + f64::from(power)
}

pub(super) fn digit_count(number: u64) -> u32 {
    number.checked_ilog10().unwrap_or(0) + 1
}

/// Formats `number × 10^power` as exact decimal text without exponent.
pub(super) fn decimal(number: i64, power: i32) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    let mut digits = number.unsigned_abs().to_string();
    if number == 0 {
        return digits;
    }
    if power >= 0 {
        digits.extend((0..power).map(|_| '0'));
        return format!("{sign}{digits}");
    }
    let places = usize::try_from(power.unsigned_abs()).unwrap_or(0);
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (integer, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{integer}.{fraction}")
}

pub(super) fn log_label(multiple: i64, power: i32, plain: bool) -> String {
    match (plain, multiple) {
        (true, _) => decimal(multiple, power),
        (false, 1) => format!("10{}", superscript(power)),
        (false, _) => format!("{multiple}×10{}", superscript(power)),
    }
}

pub(super) fn superscript(power: i32) -> String {
    let raise = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    power.to_string().chars().map(raise).collect()
}
