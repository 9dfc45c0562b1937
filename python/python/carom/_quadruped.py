"""A quadruped of our own: twelve joints, four feet, 18 velocities."""

from __future__ import annotations

_LEG = """
      <body name="{name}_hip" pos="{x} {y} 0">
        <joint name="{name}_roll" axis="1 0 0" range="-0.8 0.8"/>
        <geom type="capsule" fromto="0 0 0 0 {side} 0" size="0.03" mass="0.6"/>
        <body name="{name}_thigh" pos="0 {side} 0">
          <joint name="{name}_pitch" axis="0 1 0" range="-1.5 2.5"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.9"/>
          <body name="{name}_shank" pos="0 0 -0.2">
            <joint name="{name}_knee" axis="0 1 0" range="-2.6 -0.2"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.015" mass="0.2"/>
            <geom name="{name}_foot" class="foot" type="sphere" pos="0 0 -0.2" size="0.02" mass="0.06"/>
          </body>
        </body>
      </body>"""

_MODEL = """
<mujoco model="quadruped">
  <option timestep="{timestep}" integrator="{integrator}" cone="{cone}"/>
  <default>
    <joint type="hinge" damping="{damping}" armature="{armature}" limited="{limited}"/>
    <geom contype="0" conaffinity="0"/>
    <default class="foot">
      <geom contype="1" conaffinity="1" condim="{condim}" friction="{friction} 0.005 0.0001"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" class="foot" type="plane" size="5 5 0.1"/>
    <body name="trunk" pos="0 0 0.5">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" mass="7"/>{legs}
    </body>
  </worldbody>
  {more}
</mujoco>
"""

#: Feet, in the order of their contacts.
LEGS = ("front_left", "front_right", "rear_left", "rear_right")

#: Roll, pitch and knee of every leg as it stands, rad.
STANCE = (0.0, 0.7, -1.4)


def quadruped_xml(
    *,
    armature: float = 0.01,
    damping: float = 0.2,
    limited: bool = False,
    condim: int = 3,
    friction: float = 0.7,
    integrator: str = "Euler",
    cone: str = "elliptic",
    timestep: float = 0.002,
    more: str = "",
) -> str:
    """The model as MJCF."""
    places = ((0.19, 0.05, 0.08), (0.19, -0.05, -0.08), (-0.19, 0.05, 0.08), (-0.19, -0.05, -0.08))
    legs = "".join(
        _LEG.format(name=name, x=x, y=y, side=side) for name, (x, y, side) in zip(LEGS, places)
    )
    return _MODEL.format(
        armature=armature,
        damping=damping,
        limited="true" if limited else "false",
        condim=condim,
        friction=friction,
        integrator=integrator,
        cone=cone,
        timestep=timestep,
        legs=legs,
        more=more,
    )
