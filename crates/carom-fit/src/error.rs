//! Errors of poses, configurations and fits.

use carom_contact::ImpactError;

/// Why a table of poses was refused. Lines count from 1, the header included.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// The file has no header line, or no pose.
    #[error("line 1: the file is empty; the header `toss,t,x,y,z,qw,qx,qy,qz` is needed")]
    Empty,
    /// A column that is needed does not stand in the header.
    #[error("line 1: column `{column}` is missing; needed are toss,t,x,y,z,qw,qx,qy,qz")]
    MissingColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// A column stands in the header twice, so that its meaning is open.
    #[error("line 1: column `{column}` stands there twice")]
    RepeatedColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// A field is no number, or not a finite one.
    #[error("line {line}: column `{column}`: `{text}` is not {wanted}")]
    NotANumber {
        /// Line of the file.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// The field as it stands there, cut to 40 characters.
        text: String,
        /// Form that the field must have.
        wanted: &'static str,
    },
    /// A row has more or fewer fields than the header.
    #[error("line {line}: column `{column}`: {found} fields where the header has {expected}")]
    WrongWidth {
        /// Line of the file.
        line: u64,
        /// Fields of the row.
        found: usize,
        /// Fields of the header.
        expected: usize,
        /// The first column that is missing, or the last one before what is too much.
        column: String,
    },
    /// A quaternion is not a rotation.
    #[error("line {line}: column `qw`: the quaternion has length {norm}, not 1 within 1e-3")]
    NotAUnitQuaternion {
        /// Line of the file.
        line: u64,
        /// Length of the quaternion.
        norm: f64,
    },
    /// Time does not grow within a toss.
    #[error("line {line}: column `t`: {time} s does not come after {previous} s of the same toss")]
    TimeNotIncreasing {
        /// Line of the file.
        line: u64,
        /// Time of the line (s).
        time: f64,
        /// Time of the line before (s).
        previous: f64,
    },
    /// A time step is far from the toss's usual one.
    #[error(
        "line {line}: column `t`: a step of {step} s, but the median of toss {toss} is {median} s; \
         give what follows a gap another toss number"
    )]
    UnevenRate {
        /// Line of the file.
        line: u64,
        /// Number of the toss.
        toss: u64,
        /// The step that ends at this line (s).
        step: f64,
        /// Median step of the toss (s).
        median: f64,
    },
    /// The rows of a toss do not follow each other.
    #[error("line {line}: column `toss`: toss {toss} comes back after another one")]
    TossReturns {
        /// Line of the file.
        line: u64,
        /// Number of the toss.
        toss: u64,
    },
    /// Too few poses to estimate anything.
    #[error("line {line}: column `toss`: {found} poses in all; at least 12 are needed")]
    TooFewPoses {
        /// Last line of the file.
        line: u64,
        /// Poses found.
        found: usize,
    },
    /// The text is not a table, or its bytes could not be read.
    #[error("line {line}: no column can be read from here on: {message}")]
    Unreadable {
        /// Line near the fault.
        line: u64,
        /// The reader's words.
        message: String,
    },
}

/// Why a setup, an estimate or a fit was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// A key of the configuration is wrong. The message begins with the line where it is known.
    #[error("{0}")]
    Configuration(String),
    /// No toss ends at rest, so the plane cannot be estimated.
    #[error(
        "plane.offset: no toss ends with the body resting on a face; give the offset in metres"
    )]
    NoRestingPose,
    /// Too few poses in flight to estimate noise and gravity.
    #[error(
        "flight: {found} triples of consecutive poses are more than 10 mm above the plane; at \
         least 12 are needed"
    )]
    NoFlight {
        /// Triples found.
        found: usize,
    },
    /// A parameter that the law does not have was asked for.
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
        /// Value given.
        value: f64,
        /// Lowest legal value.
        low: f64,
        /// Highest legal value.
        high: f64,
    },
    /// An impact law gave no answer on a measured impact.
    #[error("toss {toss}, impact {index}: {source}")]
    Impact {
        /// Number of the toss.
        toss: u64,
        /// Index of the impact within the toss.
        index: usize,
        /// The law's own words.
        source: ImpactError,
    },
    /// Nothing to score.
    #[error("no impacts to score")]
    NoImpacts,
}
