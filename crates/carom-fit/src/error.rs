//! Errors in poses, configurations and fits.

use carom_contact::ImpactError;

/// Reason why a table of tracked poses was refused. Lines count from 1, including the header.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// The file has no header line.
    #[error("line 1: the file is empty; the header `toss,t,x,y,z,qw,qx,qy,qz` is needed")]
    Empty,
    /// A required column is missing in the header.
    #[error("line 1: column `{column}` is missing; needed are toss,t,x,y,z,qw,qx,qy,qz")]
    MissingColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// A column occurs twice in the header, so that its meaning is ambiguous.
    #[error("line 1: column `{column}` stands there twice")]
    RepeatedColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// A field is not a number, or not a finite one.
    #[error("line {line}: column `{column}`: `{text}` is not {wanted}")]
    NotANumber {
        /// Line of the file.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// Text of the field, cut to 40 characters.
        text: String,
        /// Description of the required form.
        wanted: &'static str,
    },
    /// A row has more or fewer fields than the header.
    #[error("line {line}: column `{column}`: {found} fields where the header has {expected}")]
    WrongWidth {
        /// Line of the file.
        line: u64,
        /// Number of fields in the row.
        found: usize,
        /// Number of fields in the header.
        expected: usize,
        /// First column that is missing, or the last column before the excess fields.
        column: String,
    },
    /// A quaternion does not have unit length.
    #[error("line {line}: column `qw`: the quaternion has length {norm}, not 1 within 1e-3")]
    NotAUnitQuaternion {
        /// Line of the file.
        line: u64,
        /// Length of the quaternion.
        norm: f64,
    },
    /// Time does not increase within a toss.
    #[error("line {line}: column `t`: {time} s does not come after {previous} s of the same toss")]
    TimeNotIncreasing {
        /// Line of the file.
        line: u64,
        /// Time of the line (s).
        time: f64,
        /// Time of the previous line (s).
        previous: f64,
    },
    /// A time step differs too much from the median step of its toss.
    #[error(
        "line {line}: column `t`: a step of {step} s, but the median of toss {toss} is {median} s; \
         give what follows a gap another toss number"
    )]
    UnevenRate {
        /// Line of the file.
        line: u64,
        /// Number of the toss.
        toss: u64,
        /// Time step that ends at this line (s).
        step: f64,
        /// Median step of the toss (s).
        median: f64,
    },
    /// The rows of a toss are not consecutive.
    #[error("line {line}: column `toss`: toss {toss} comes back after another one")]
    TossReturns {
        /// Line of the file.
        line: u64,
        /// Number of the toss.
        toss: u64,
    },
    /// There are too few poses for an estimate.
    #[error("line {line}: column `toss`: {found} poses in all; at least 12 are needed")]
    TooFewPoses {
        /// Last line of the file.
        line: u64,
        /// Number of poses.
        found: usize,
    },
    /// The text is not a table, or it could not be read.
    #[error("line {line}: no column can be read from here on: {message}")]
    Unreadable {
        /// Line near the error.
        line: u64,
        /// Error message of the reader.
        message: String,
    },
}

/// Reason why the setup of an experiment is invalid, or why the noise could not be estimated or an impact law could not be
/// fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// A key of the configuration is wrong. The message begins with the line number if that is known.
    #[error("{0}")]
    Configuration(String),
    /// No toss ends at rest, so the plane cannot be estimated.
    #[error(
        "plane.offset: no toss ends with the body resting on a face; give the offset in metres"
    )]
    NoRestingPose,
    /// There are too few poses in flight to estimate noise and gravity.
    #[error(
        "flight: {found} triples of consecutive poses are more than 10 mm above the plane; at \
         least 12 are needed"
    )]
    NoFlight {
        /// Number of triples of consecutive poses in flight.
        found: usize,
    },
    /// A requested free parameter is not a parameter of the law.
    #[error("free: law `{law}` has no parameter `{parameter}`")]
    UnusedParameter {
        /// Name of the law.
        law: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{parameter}: {value} is outside [{low}, {high}]")]
    ParameterRange {
        /// Name of the parameter.
        parameter: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// An impact law failed on a measured impact.
    #[error("toss {toss}, impact {index}: {source}")]
    Impact {
        /// Number of the toss.
        toss: u64,
        /// Index of the impact within the toss.
        index: usize,
        /// Error of the law.
        source: ImpactError,
    },
    /// There are no impacts to score.
    #[error("no impacts to score")]
    NoImpacts,
}
