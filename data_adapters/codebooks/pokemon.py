"""Weedle's Cave: the three files, their columns, and the types a Pokemon can have."""

from __future__ import annotations

ITEM_FILE, COMBAT_FILE, TEST_FILE = "pokemon.csv", "combats.csv", "tests.csv"

ITEM_COLUMNS = (
    "#", "Name", "Type 1", "Type 2", "HP", "Attack", "Defense", "Sp. Atk", "Sp. Def", "Speed", "Generation",
    "Legendary",
)  # fmt: skip
BATTLE_COLUMNS = ("First_pokemon", "Second_pokemon")
COMBAT_COLUMNS = (*BATTLE_COLUMNS, "Winner")

STATS = {
    "hp": "HP", "attack": "Attack", "defense": "Defense", "special_attack": "Sp. Atk", "special_defense": "Sp. Def",
    "speed": "Speed",
}  # fmt: skip
"""The six stats with their columns."""
TOP_STAT = 255
GENERATIONS = 6

TYPES = (
    "Bug", "Dark", "Dragon", "Electric", "Fairy", "Fighting", "Fire", "Flying", "Ghost", "Grass", "Ground", "Ice",
    "Normal", "Poison", "Psychic", "Rock", "Steel", "Water",
)  # fmt: skip
