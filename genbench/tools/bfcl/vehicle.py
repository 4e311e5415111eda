"""The car of BFCL's conversations: doors, engine, brakes, climate, cruise control and navigation."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from genbench.tools.bfcl.padding import long_text, towns, weather
from genbench.tools.bfcl.service import Release, Result, Service, failed

_SEED = 141053
_TANK_GALLONS = 50
_MILES_PER_GALLON = 20.0
_FULL_FORCE_N = 1000.0
_ZIP_CODES: Mapping[str, str] = MappingProxyType(
    {
        "Rivermist": "83214",
        "Stonebrook": "74532",
        "Maplecrest": "56108",
        "Silverpine": "62947",
        "Shadowridge": "71354",
        "Sunset Valley": "83462",
        "Oakendale": "47329",
        "Willowbend": "52013",
        "Crescent Hollow": "69238",
        "Autumnville": "51479",
        "San Francisco": "94016",
    }
)
_KILOMETRES: Mapping[frozenset[str], float] = MappingProxyType(
    {
        frozenset(pair.split()): distance
        for pair, distance in (
            ("83214 74532", 750.0),
            ("56108 62947", 320.0),
            ("71354 83462", 450.0),
            ("47329 52013", 290.0),
            ("69238 51479", 630.0),
            ("94016 83214", 980.0),
            ("94016 94704", 600.0),
            ("94704 08540", 2550.0),
            ("94016 08540", 1950.0),
            ("62947 47329", 1053.0),
            ("94016 62947", 780.0),
            ("74532 94016", 880.0),
        )
    }
)
_TIRES = ("frontLeftTirePressure", "frontRightTirePressure", "rearLeftTirePressure", "rearRightTirePressure")


class VehicleControlAPI(Service):
    """A car. The names of functions, parameters and attributes are those of the benchmark."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self._random = random.Random(config.get("random_seed", _SEED))
        self.fuelLevel = self._given("fuelLevel", 0.0)
        self.batteryVoltage = self._given("batteryVoltage", 12.6)
        self.engine_state = self._given("engineState", "stopped")
        doors = ("driver", "passenger", "rear_left", "rear_right")
        self.doorStatus = self._given("doorStatus", dict.fromkeys(doors, "unlocked"))
        self.remainingUnlockedDoors = 4 - list(self.doorStatus.values()).count("locked")
        self.acTemperature = self._given("acTemperature", 25.0)
        self.fanSpeed = self._given("fanSpeed", 50)
        self.acMode = self._given("acMode", "auto")
        self.humidityLevel = self._given("humidityLevel", 50.0)
        self.headLightStatus = self._given("headLightStatus", "off")
        self.parkingBrakeStatus = self._given("parkingBrakeStatus", "released")
        self._parking_force = self._given("parkingBrakeForce", 0.0)
        self._slope = self._given("slopeAngle", 0.0)
        self.brakePedalStatus = self._given("brakePedalStatus", "released")
        self._pedal_force = self._given("brakePedalForce", 0.0)
        self.distanceToNextVehicle = self._given("distanceToNextVehicle", 50.0)
        self.cruiseStatus = self._given("cruiseStatus", "inactive")
        self.destination = self._given("destination", "None")
        self.frontLeftTirePressure = self._given("frontLeftTirePressure", 32.0)
        self.frontRightTirePressure = self._given("frontRightTirePressure", 32.0)
        self.rearLeftTirePressure = self._given("rearLeftTirePressure", 30.0)
        self.rearRightTirePressure = self._given("rearRightTirePressure", 30.0)

    def startEngine(self, ignitionMode: str) -> Result:
        """Start or stop the engine. Every call that does not start it has an error as its result."""
        if ignitionMode == "STOP":
            self.engine_state = "stopped"
        why = self._start_error()
        if why is None and ignitionMode != "START":
            why = "Invalid ignition mode."
        if why is not None:
            return failed(why)
        self.engine_state = "running"
        return {
            "engineState": self.engine_state,
            "fuelLevel": self.fuelLevel,
            "batteryVoltage": self.batteryVoltage,
        }

    def _start_error(self) -> str | None:
        if self.remainingUnlockedDoors > 0:
            names = ", ".join(door for door, status in self.doorStatus.items() if status == "unlocked")
            return (
                f"All doors must be locked before starting the engine. Here are the unlocked doors: {names}"
            )
        if self.brakePedalStatus != "pressed":
            return "Brake pedal needs to be pressed when starting the engine."
        if self._pedal_force != _FULL_FORCE_N:
            return "Must press the brake fully before starting the engine."
        return "Fuel tank is empty." if self.fuelLevel < 0 else None

    def fillFuelTank(self, fuelAmount: float) -> Result:
        """Add fuel, in gallons."""
        if fuelAmount < 0:
            return failed("Fuel amount cannot be negative.")
        if self.fuelLevel + fuelAmount > _TANK_GALLONS:
            return failed("Cannot fill gas above the tank capacity.")
        if self.fuelLevel + fuelAmount < 0:
            return failed("Fuel tank is empty. Min fuel level is 0 gallons.")
        self.fuelLevel += fuelAmount
        return {"fuelLevel": self.fuelLevel}

    def lockDoors(self, unlock: bool, door: list[str]) -> Result:
        """Lock or unlock doors.

        Raises:
            KeyError: there is no such door. Those before it are done.
        """
        status, step = ("unlocked", 1) if unlock else ("locked", -1)
        for name in door:
            if self.doorStatus[name] != status:
                self.doorStatus[name] = status
                self.remainingUnlockedDoors += step
        return {"lockStatus": status, "remainingUnlockedDoors": self.remainingUnlockedDoors}

    def adjustClimateControl(
        self,
        temperature: float,
        unit: str = "celsius",
        fanSpeed: int = 50,
        mode: str = "auto",
    ) -> Result:
        """Set the climate. The result has the temperature in the unit that was given."""
        if not 0 <= fanSpeed <= 100:
            return failed("Fan speed must be between 0 and 100.")
        self.acTemperature = (temperature - 32) * 5 / 9 if unit == "fahrenheit" else temperature
        self.fanSpeed, self.acMode = fanSpeed, mode
        return {
            "currentACTemperature": temperature,
            "climateMode": mode,
            "humidityLevel": self.humidityLevel,
        }

    def get_outside_temperature_from_google(self) -> Result:
        """Return a random temperature in degrees Celsius."""
        longer = weather() if self._padded else {}
        return {**longer, "outsideTemperature": self._random.uniform(-10.0, 40.0)}

    def get_outside_temperature_from_weather_com(self) -> Result:
        """Return an error: this service is never there."""
        return {"error": 404}

    def setHeadlights(self, mode: str) -> Result:
        """Switch the headlights. `auto` switches them off."""
        if mode not in ("on", "off", "auto"):
            return failed("Invalid headlight mode.")
        self.headLightStatus = "on" if mode == "on" else "off"
        return {"headlightStatus": self.headLightStatus}

    def displayCarStatus(self, option: str) -> Result:
        """Return one part of the car's state."""
        parts: dict[str, Result] = {
            "fuel": {"fuelLevel": self.fuelLevel},
            "battery": {"batteryVoltage": self.batteryVoltage},
            "doors": {"doorStatus": self.doorStatus},
            "climate": {
                "currentACTemperature": self.acTemperature,
                "fanSpeed": self.fanSpeed,
                "climateMode": self.acMode,
                "humidityLevel": self.humidityLevel,
            },
            "headlights": {"headlightStatus": self.headLightStatus},
            "parkingBrake": {
                "parkingBrakeStatus": self.parkingBrakeStatus,
                "parkingBrakeForce": self._parking_force,
                "slopeAngle": self._slope,
            },
            "brakePedal": {"brakePedalStatus": self.brakePedalStatus, "brakePedalForce": self._pedal_force},
            "engine": {"engineState": self.engine_state},
        }
        longer = {"metadata": long_text(6_500)} if self._padded else {}
        return {**longer, **parts.get(option, failed("Invalid option"))}

    def activateParkingBrake(self, mode: str) -> Result:
        """Engage or release the parking brake."""
        if mode not in ("engage", "release"):
            return failed("Invalid mode")
        self.parkingBrakeStatus = f"{mode}d"
        self._parking_force, self._slope = 500.0 if mode == "engage" else 0.0, 10.0
        longer = {"parkingBrakeInstruction": long_text(9_700)} if self._padded else {}
        return {
            **longer,
            "parkingBrakeStatus": self.parkingBrakeStatus,
            "_parkingBrakeForce": self._parking_force,
            "_slopeAngle": self._slope,
        }

    def pressBrakePedal(self, pedalPosition: float) -> Result:
        """Press the brake pedal, between 0 and 1."""
        if not 0 <= pedalPosition <= 1:
            return failed("Pedal position must be between 0 and 1.")
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.brakePedalStatus, self._pedal_force = "pressed", pedalPosition * 1000
        return {"brakePedalStatus": "pressed", "brakePedalForce": float(self._pedal_force)}

    def releaseBrakePedal(self) -> Result:
        """Release the brake pedal."""
        self.brakePedalStatus, self._pedal_force = "released", 0.0
        return {"brakePedalStatus": "released", "brakePedalForce": 0.0}

    def setCruiseControl(
        self,
        speed: float,
        activate: bool,
        distanceToNextVehicle: float,
    ) -> Result:
        """Switch the cruise control while the engine runs."""
        if self._is_v4:
            speed, distanceToNextVehicle = float(speed), float(distanceToNextVehicle)
        if self.engine_state == "stopped":
            return failed("Start the engine before activating the cruise control.")
        self.distanceToNextVehicle = distanceToNextVehicle
        if activate and (speed < 0 or speed > 120 or speed % 5 != 0):
            return failed("Invalid speed")
        self.cruiseStatus = "active" if activate else "inactive"
        return {
            "cruiseStatus": self.cruiseStatus,
            "currentSpeed": speed,
            "distanceToNextVehicle": distanceToNextVehicle,
        }

    def get_current_speed(self) -> Result:
        """Return a random speed in km/h."""
        return {"currentSpeed": self._random.uniform(0.0, 120.0)}

    def display_log(self, messages: list[str]) -> Result:
        """Return messages as they are."""
        return {"log": messages}

    def estimate_drive_feasibility_by_mileage(self, distance: float) -> Result:
        """Tell whether the fuel is enough for some miles."""
        return {"canDrive": not self.fuelLevel * _MILES_PER_GALLON < distance}

    def liter_to_gallon(self, liter: float) -> Result:
        """Convert litres to gallons."""
        return {"gallon": liter * 0.264172}

    def gallon_to_liter(self, gallon: float) -> Result:
        """Convert gallons to litres."""
        return {"liter": gallon * 3.78541}

    def estimate_distance(self, cityA: str, cityB: str) -> Result:
        """Return the distance between two zip codes in kilometres."""
        distance = _KILOMETRES.get(frozenset((cityA, cityB)))
        found = failed("distance not found in database.") if distance is None else {"distance": distance}
        return {**found, "intermediaryCities": list(towns())} if self._padded else found

    def get_zipcode_based_on_city(self, city: str) -> Result:
        """Return the zip code of a city."""
        return {"zipcode": _ZIP_CODES.get(city, "00000")}

    def set_navigation(self, destination: str) -> Result:
        """Set the destination."""
        said = "Navigating to " + destination
        self.destination = destination
        return {"status": said}

    def check_tire_pressure(self) -> Result:
        """Return the pressure of each tire, and whether their mean is healthy."""
        pressures = {name: getattr(self, name) for name in _TIRES}
        return {
            **pressures,
            "healthy_tire_pressure": 30 <= sum(pressures.values()) / 4 <= 35,
            "car_info": long_text(6_500) if self._padded else {},
        }

    def find_nearest_tire_shop(self) -> Result:
        """Return the address of a tire shop."""
        return {"shopLocation": "456 Oakwood Avenue, Rivermist, 83214"}
