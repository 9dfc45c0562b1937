"""Units that `carom export fmu` writes, by an importer (FMPy): descriptions, five worlds, inputs, states, faults."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carom
from carom import _native

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

FREE = """
duration = 0.6
contact = { friction = 0.3, restitution = 0.5 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[output]
sample_step = 0.1
[[bodies]]
name = "ball"
mass = 1.5
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.4]
velocity = [0.5, 0.0, 0.0]
[[bodies]]
name = "box"
mass = 2.0
shape = { type = "box", half_extents = [0.1, 0.08, 0.06] }
position = [1.0, 0.02, 0.3]
angular_velocity = [1.0, 2.0, 0.5]
"""

HINGE = """
duration = 0.6
[output]
sample_step = 0.1
[[bodies]]
name = "rod"
mass = 2.0
inertia = [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.15]]
[[joints]]
name = "hinge"
type = "revolute"
child = "rod"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 1.2
limits = { lower = 0.6, upper = 2.0, restitution = 0.5 }
actuator = { type = "pd", proportional = 20.0, derivative = 2.0, times = [0.0, 0.3], values = [1.2, 1.5] }
"""

WORLDS = {
    "free": FREE,
    "steps": 'scheme = "time-stepping"\n' + FREE,
    "order_4": 'flight = "lgvi4"\n' + FREE,
    "elastic": FREE.replace("restitution = 0.5", "restitution = 1.0").replace("friction = 0.3", "friction = 0.0"),
    "hinge": HINGE,
}


def library() -> Path:
    """The shared library, which Cargo builds."""
    given = os.environ.get("CAROM_CAPI")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = [Path(given)] if given else []
    places += [target / folder / "libcarom_capi.so" for folder in ("debug", "debug/deps", "release", "dist")]
    for place in places:
        if place.is_file():
            return place
    pytest.skip("libcarom_capi.so is not built: cargo build -p carom-capi")


def exported(folder: Path, name: str, fmi: int, is_whole: bool = False) -> Path:
    """The unit of a world; unless it is whole with an empty library, for a large one takes seconds to compress."""
    config, empty = folder / f"{name}.toml", folder / "empty.so"
    config.write_text(WORLDS[name])
    empty.write_bytes(b"")
    unit = folder / f"{name}-{fmi}.fmu"
    words = ["export", "fmu", str(config), "-o", str(unit), "--fmi", str(fmi)]
    words += ["--library", str(library() if is_whole else empty)]
    assert _native.main([], ["carom", *words]) == 0
    return unit


class Unit:
    """Instance of a unit: variables by name, for both versions."""

    def __init__(self, unit: Path, folder: Path) -> None:
        self.description = fmpy.read_model_description(str(unit))
        fmpy.extract(str(unit), str(folder))
        (empty,) = folder.glob("binaries/*/*.so")
        empty.unlink()
        empty.symlink_to(library())
        self.is_3 = self.description.fmiVersion == "3.0"
        self.folder = folder
        self.unit = self.slave()
        self.begin(self.unit)

    def slave(self) -> Any:
        kind = FMU3Slave if self.is_3 else FMU2Slave
        token = self.description.instantiationToken if self.is_3 else self.description.guid
        slave = kind(
            guid=token,
            unzipDirectory=str(self.folder),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        slave.instantiate()
        return slave

    def begin(self, slave: Any) -> None:
        if not self.is_3:
            slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()

    def references(self, name: str) -> list[int]:
        all_variables = self.description.modelVariables
        if self.is_3:
            return [v.valueReference for v in all_variables if v.name == name]
        return [v.valueReference for v in all_variables if v.name == name or v.name.startswith(f"{name}[")]

    def get(self, name: str, n: int = 1) -> list[float]:
        references = self.references(name)
        if self.is_3:
            return list(self.unit.getFloat64(references, nValues=n))
        return list(self.unit.getReal(references))

    def set(self, name: str, values: list[float]) -> None:
        set_values = self.unit.setFloat64 if self.is_3 else self.unit.setReal
        set_values(self.references(name), values)

    def step(self, time: float, step: float) -> None:
        self.unit.doStep(currentCommunicationPoint=time, communicationStepSize=step)

    def end(self) -> None:
        self.unit.terminate()
        self.unit.freeInstance()


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", list(WORLDS))
def test_a_unit_is_valid_and_its_outputs_are_the_rows_of_a_run(tmp_path: Path, name: str, fmi: int) -> None:
    path = exported(tmp_path, name, fmi)
    assert validate_fmu(str(path)) == []
    motion = carom.World.from_toml(WORLDS[name]).run()
    unit = Unit(path, tmp_path / "unit")
    body = motion.bodies[0]
    for k, time in enumerate(motion.time[:-1]):
        row = list(motion.position[k, 0])
        assert unit.get(f"{body}.position", 3) == row
        if name == "hinge":
            assert unit.get("hinge.position") == [motion.joint_position["hinge"][k]]
        unit.step(time, motion.time[k + 1] - time)
    assert unit.get(f"{body}.velocity", 3) == pytest.approx(list(motion.velocity[-1, 0]), abs=1e-12)
    unit.end()


def test_a_whole_simulation_by_the_importer(tmp_path: Path) -> None:
    result = fmpy.simulate_fmu(str(exported(tmp_path, "free", 3, is_whole=True)), output=["energy", "impacts"])
    assert result["time"][-1] == pytest.approx(0.6) and len(result) >= 7
    assert np.all(np.diff(result["energy"]) <= 1e-9) and result["impacts"][-1] > 0


@pytest.mark.parametrize("fmi", [2, 3])
def test_contacts_explain_momenta_and_states_go_back(tmp_path: Path, fmi: int) -> None:
    unit = Unit(exported(tmp_path, "free", fmi), tmp_path / "unit")
    unit.set("ball.force", [0.3, 0.0, 0.1])
    time, step, weight = 0.0, 0.02, np.array([0.0, 0.0, -1.5 * 9.80665])
    ends = []
    for _ in range(2):
        is_3 = unit.is_3
        state = unit.unit.getFMUState() if is_3 else unit.unit.getFMUstate()
        for k in range(20):
            before = np.array(unit.get("ball.velocity", 3))
            unit.step(time + k * step, step)
            gain = weight + [0.3, 0.0, 0.1] + np.array(unit.get("ball.contact_force", 3))
            change = 1.5 * (np.array(unit.get("ball.velocity", 3)) - before)
            assert np.abs(change - gain * step).max() <= 1e-10 * 1.5 * 9.8 * step
        ends.append(unit.get("ball.position", 3))
        data = unit.unit.serializeFMUState(state) if is_3 else unit.unit.serializeFMUstate(state)
        back = unit.unit.deserializeFMUState(data) if is_3 else unit.unit.deSerializeFMUstate(data)
        (unit.unit.setFMUState if is_3 else unit.unit.setFMUstate)(back)
        for kept in (state, back):
            (unit.unit.freeFMUState if is_3 else unit.unit.freeFMUstate)(kept)
    assert ends[0] == ends[1]
    unit.end()


@pytest.mark.parametrize("fmi", [2, 3])
def test_faults_are_errors(tmp_path: Path, fmi: int) -> None:
    unit = Unit(exported(tmp_path, "hinge", fmi), tmp_path / "unit")
    for name, values in [("rod.force", [np.nan, 0.0, 0.0]), ("rod.position", [0.0, 0.0, 0.0])]:
        with pytest.raises(Exception, match="(?i)error|status"):
            unit.set(name, values)
    with pytest.raises(Exception, match="(?i)error|status"):
        unit.step(0.5, 0.1)
    unit.step(0.0, 0.1)
    other = unit.slave()
    unit.begin(other)
    other.freeInstance()
    unit.end()
    shutil.rmtree(unit.folder / "resources")
    with pytest.raises(Exception, match="(?i)instantiate|NULL|failed"):
        unit.slave()
