//! Observed orders through impacts, against exact states from long arithmetic.

use super::common::{System, gravity};
use carom_lie::So3;
use carom_motion::flying::{Collider, ImpactRule, Trajectory};
use carom_variational::{ExactFlight, Flight, FreeFlight, State, TimeGrid};
use nalgebra::{Matrix3, Vector3};

struct Convergence {
    system: fn() -> System,
    time: f64,
    impacts: usize,
    position: [f64; 3],
    rotation: [f64; 9],
    linear_momentum: [f64; 3],
    angular_momentum: [f64; 3],
    /// Errors for the steps 0.04, 0.02, 0.01, 0.005, 0.0025.
    lgvi: [f64; 5],
    yoshida4: [f64; 5],
    suzuki4: [f64; 5],
    yoshida6: [f64; 5],
}

/// Errors of an independent implementation.
const RUNS: [Convergence; 6] = [
    Convergence {
        system: super::common::case_i,
        time: 2.4,
        impacts: 0,
        position: [4.8, 4.8, 5.756848000000002],
        rotation: [
            -0.13695412606164017,
            -0.05511043917254279,
            0.9890431774441913,
            -0.4699724811453809,
            0.8825378166917557,
            -0.01590185759601398,
            -0.8719916480796973,
            -0.4670009010731764,
            -0.14676758523629874,
        ],
        linear_momentum: [2.0, 2.0, -13.53596],
        angular_momentum: [-2.155893171983826, -5.6185966277499, 3.432709799215626],
        lgvi: [
            0.018096013675250797,
            0.004512849897706698,
            0.0011275179603086663,
            0.00028183612330080093,
            7.045632138171831e-05,
        ],
        yoshida4: [
            0.00028624579211883436,
            1.7652347723350344e-05,
            1.0996052771487106e-06,
            6.866873766391188e-08,
            4.293916117261845e-09,
        ],
        suzuki4: [
            3.9613189116466006e-06,
            2.471614240125575e-07,
            1.544164147064216e-08,
            9.656297705971662e-10,
            6.210086553423163e-11,
        ],
        yoshida6: [
            1.799204548782387e-07,
            2.7785074439912498e-09,
            4.3656768644746125e-11,
            2.5696642066982442e-12,
            4.485418588032221e-12,
        ],
    },
    Convergence {
        system: super::common::case_i,
        time: 4.0,
        impacts: 1,
        position: [7.999999999999999, 7.999999999999999, 8.81238930402751],
        rotation: [
            -0.012754379886879996,
            0.24718501118573125,
            0.9688843563804764,
            0.11279575109636136,
            -0.9624227613653202,
            0.24702134915945764,
            0.9935363326664548,
            0.1124366428307994,
            -0.015606313486224599,
        ],
        linear_momentum: [2.0, 2.0, -1.640189802256939],
        angular_momentum: [5.946941874596508, -15.103443868846064, 13.476744335320777],
        lgvi: [
            0.8312503218327489,
            0.20503632166436037,
            0.0512689601261678,
            0.012805105403059649,
            0.0032007613629392476,
        ],
        yoshida4: [
            0.17341517108160645,
            0.0092612784191358,
            0.0005608908165890937,
            3.472679016138118e-05,
            2.1653558026542843e-06,
        ],
        suzuki4: [
            0.0020155727102011203,
            0.0001245127480932218,
            7.7979897980518e-06,
            4.867887279480974e-07,
            3.0413683905034096e-08,
        ],
        yoshida6: [
            0.0011848444724939116,
            1.6333084888191956e-05,
            2.488075921017248e-07,
            3.845193625936277e-09,
            6.01381157054129e-11,
        ],
    },
    Convergence {
        system: super::common::case_i,
        time: 5.2,
        impacts: 2,
        position: [10.400000000000002, 10.400000000000002, 3.4451708760718294],
        rotation: [
            0.7242136218746543,
            -0.6463650261048045,
            0.24026419400262194,
            -0.445269991297162,
            -0.17228468503264482,
            0.8786652503390738,
            -0.5265446464844368,
            -0.7433237789360276,
            -0.41257786528950197,
        ],
        linear_momentum: [2.0, 2.0, -1.4207285439157666],
        angular_momentum: [-20.49214610316051, -2.004419276212846, 20.068847684673685],
        lgvi: [
            3.7559642869491565,
            0.9147173327162331,
            0.22864673556533738,
            0.05721807015007843,
            0.014302842294205767,
        ],
        yoshida4: [
            0.7973056950181568,
            0.04194867115610229,
            0.0025225904644795754,
            0.00015675268514214947,
            9.771833318060865e-06,
        ],
        suzuki4: [
            0.008992133987984676,
            0.0005603378152991582,
            3.50167815007838e-05,
            2.196417724250927e-06,
            1.3721414091408329e-07,
        ],
        yoshida6: [
            0.006399976759808284,
            8.598101611238901e-05,
            1.2927584373191356e-06,
            2.015570243837981e-08,
            3.6355212947190425e-10,
        ],
    },
    Convergence {
        system: super::common::case_ii,
        time: 4.0,
        impacts: 1,
        position: [9.220281856083329, 7.999999999999998, 6.491100307348556],
        rotation: [
            0.7643760769794529,
            0.3217914098824932,
            0.5587302582349896,
            0.0022778833263832343,
            -0.8678988918844782,
            0.49673566885542425,
            0.6447666432043857,
            -0.3784201395162949,
            -0.6641341534806174,
        ],
        linear_momentum: [2.909477462243512, 2.0, -3.1825730360914806],
        angular_momentum: [7.956226599639651, -19.181909549846964, 12.79177199255908],
        lgvi: [
            1.0664081880887555,
            0.26284682641779533,
            0.06532385556399052,
            0.016308775843628786,
            0.004077608630358453,
        ],
        yoshida4: [
            0.303186856427869,
            0.015789665089934197,
            0.0009437026660305655,
            5.834014651864007e-05,
            3.637379252422588e-06,
        ],
        suzuki4: [
            0.003401455835979911,
            0.00021072787683537134,
            1.3097075122669548e-05,
            8.174354021746607e-07,
            5.1083359690273996e-08,
        ],
        yoshida6: [
            0.0023864609861749776,
            3.2242443714897446e-05,
            4.849356196824397e-07,
            7.49436841638326e-09,
            9.993576669476965e-11,
        ],
    },
    Convergence {
        system: super::common::case_iii,
        time: 5.0,
        impacts: 2,
        position: [10.0, 10.0, 12.857929086649929],
        rotation: [
            0.6807447410000392,
            -0.4795163658069303,
            0.5537604649341658,
            -0.11360761914003245,
            -0.8159308257714375,
            -0.566877585047489,
            0.7236573128726902,
            0.3229875268168328,
            -0.6099173313217318,
        ],
        linear_momentum: [2.0, 2.0, -5.67506709068532],
        angular_momentum: [-4.991253902298162, 6.3793122174741095, -9.102084538010308],
        lgvi: [
            1.0384368937254083,
            0.26270263680062667,
            0.06658034828943268,
            0.01665713000105353,
            0.004167315669613626,
        ],
        yoshida4: [
            0.03582761540628728,
            0.0021917601261559954,
            0.00013801790925435658,
            8.617191346981568e-06,
            5.388971368279131e-07,
        ],
        suzuki4: [
            0.0004846132488628958,
            3.051829488980944e-05,
            1.935450410615863e-06,
            1.2101967880303758e-07,
            7.511650922240358e-09,
        ],
        yoshida6: [
            5.411853238416613e-05,
            8.342192997356066e-07,
            1.3156734732882148e-08,
            2.724935661044469e-10,
            1.4024078851093947e-10,
        ],
    },
    Convergence {
        system: super::common::case_iv,
        time: 3.2,
        impacts: 1,
        position: [6.4, 6.4, 3.9253437408483594],
        rotation: [
            -0.25737482215107094,
            -0.8514827692073811,
            0.456875578977071,
            -0.23589043582581448,
            -0.4031368080611429,
            -0.8842151413950006,
            0.9370773197600141,
            -0.335347294202895,
            -0.09709937724921314,
        ],
        linear_momentum: [2.0, 2.0, -0.8520385961103211],
        angular_momentum: [8.975648902498477, 16.48595570965877, -11.510306807160294],
        lgvi: [
            1.7442947377882965,
            0.4255303126427577,
            0.10607799904690424,
            0.026481791202794435,
            0.00661945407355638,
        ],
        yoshida4: [
            0.3359185259714544,
            0.013770079945849768,
            0.0008039478068983105,
            4.9324123783716354e-05,
            3.069239414237522e-06,
        ],
        suzuki4: [
            0.0029037914094124004,
            0.0001766455234154772,
            1.105838370577975e-05,
            6.896000334535579e-07,
            4.3161031284354345e-08,
        ],
        yoshida6: [
            0.004591548162679687,
            4.8243059132453713e-05,
            6.989009740178373e-07,
            1.0735243617581327e-08,
            1.9175941435487354e-10,
        ],
    },
];

impl Convergence {
    fn exact(&self) -> State {
        State {
            position: Vector3::from(self.position),
            rotation: So3::from_matrix(&Matrix3::from_row_slice(&self.rotation)).unwrap(),
            linear_momentum: Vector3::from(self.linear_momentum),
            angular_momentum: Vector3::from(self.angular_momentum),
        }
    }

    fn error<F: Flight>(&self, flight: &F, step: f64) -> f64 {
        let system = (self.system)();
        let collider = Collider::new(
            &system.body,
            &system.shape,
            &system.plane,
            flight,
            ImpactRule::ELASTIC,
        )
        .unwrap();
        let grid = TimeGrid::duration(step, self.time).unwrap();
        let run = Trajectory::record(&collider, &system.initial, &grid, None).unwrap();
        assert_eq!(run.impacts().len(), self.impacts);
        let (a, b) = (run.end().state, self.exact());
        (a.position - b.position).norm()
            + (a.rotation.matrix() - b.rotation.matrix()).norm()
            + (a.linear_momentum - b.linear_momentum).norm()
            + (a.angular_momentum - b.angular_momentum).norm()
    }

    /// Errors, and the order between errors below `asymptotic`.
    fn check<F: Flight>(&self, flight: &F, order: i32, asymptotic: f64, expected: &[f64; 5]) {
        let steps = [0.04, 0.02, 0.01, 0.005, 0.0025];
        let errors = steps.map(|step| self.error(flight, step));
        for (error, expected) in errors.iter().zip(expected) {
            // Below 1e-8 rounding and the location of impacts are seen.
            let tolerance = 0.05 * expected + if *expected < 1e-8 { 1e-8 } else { 0.0 };
            assert!(
                (error - expected).abs() <= tolerance,
                "{flight:?} {error:e} {expected:e}"
            );
        }
        for (coarse, fine) in errors.iter().zip(&errors[1..]) {
            // Above rounding.
            if *coarse < asymptotic && *fine > 1e-7 {
                let observed = (coarse / fine).log2();
                assert!(
                    (observed - f64::from(order)).abs() <= 0.12,
                    "{flight:?} {observed}"
                );
            }
        }
    }
}

#[test]
fn the_variational_integrator_is_of_second_order_through_impacts() {
    for run in &RUNS {
        run.check(&FreeFlight::lgvi(gravity()), 2, 0.1, &run.lgvi);
    }
}

#[test]
fn compositions_are_of_fourth_and_sixth_order_through_impacts() {
    for run in &RUNS {
        run.check(&FreeFlight::suzuki4(gravity()), 4, 0.02, &run.suzuki4);
        run.check(&FreeFlight::yoshida4(gravity()), 4, 0.02, &run.yoshida4);
        run.check(&FreeFlight::yoshida6(gravity()), 6, 1e-3, &run.yoshida6);
    }
}

/// The exact flow has no step error: any step gives the same state.
#[test]
fn the_exact_flow_is_exact_for_every_step() {
    for run in &RUNS {
        for step in [0.3, 0.04, 0.01] {
            let error = run.error(&ExactFlight::new(gravity()), step);
            assert!(error <= 1e-9, "{step}: {error:e}");
        }
    }
}
