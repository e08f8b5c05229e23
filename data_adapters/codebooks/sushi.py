"""sushi3-2016: the files, their columns, and what the codes in them mean (the archive's README)."""

from __future__ import annotations

import numpy as np

ITEM_FILE, USER_FILE = "sushi3.idata", "sushi3.udata"
ORDER_FILES = {"a": "sushi3a.5000.10.order", "b": "sushi3b.5000.10.order"}
N_ITEMS = 100
RANKED = 10
"""Number of items that a person ranked in each set."""

SET_A = {
    "ebi": 0, "anago": 1, "maguro": 2, "ika": 3, "uni": 4, "ikura": 6, "tamago": 7, "toro": 8, "tekka_maki": 26,
    "kappa_maki": 29,
}  # fmt: skip
"""The items of set A in the order of their ids 0..9, each with its id in set B and in sushi3.idata."""

ITEM_COLUMNS = (
    "item_id", "name", "style", "major_group", "minor_group", "oiliness", "eating_frequency", "normalised_price",
    "shop_frequency",
)  # fmt: skip
USER_COLUMNS = (
    "user_id", "gender", "age", "seconds", "prefecture_child", "region_child", "east_west_child", "prefecture_now",
    "region_now", "east_west_now", "moved",
)  # fmt: skip
ORDER_COLUMNS = ("start", "length", *(f"rank {rank}" for rank in range(1, RANKED + 1)))

MINOR_GROUPS = (
    "blue-skinned fish", "red-meat fish", "white-meat fish", "tare-glazed eel", "clam or shell", "squid or octopus",
    "shrimp or crab", "roe", "other seafood", "egg", "meat other than fish", "vegetables",
)  # fmt: skip
FIRST_OTHER_GROUP = MINOR_GROUPS.index("egg")
"""The minor groups below are seafood."""

AGES = ("15-19", "20-29", "30-39", "40-49", "50-59", "60 or older")
REGIONS = (
    "Hokkaido", "Tohoku", "Hokuriku", "Kanto and Shizuoka", "Nagano and Yamanashi", "Chukyo", "Kinki", "Chugoku",
    "Shikoku", "Kyushu", "Okinawa", "abroad",
)  # fmt: skip
PREFECTURES = (
    "Hokkaido", "Aomori", "Iwate", "Akita", "Miyagi", "Yamagata", "Fukushima", "Niigata", "Ibaraki", "Tochigi",
    "Gunma", "Saitama", "Chiba", "Tokyo", "Kanagawa", "Yamanashi", "Shizuoka", "Nagano", "Aichi", "Gifu", "Toyama",
    "Ishikawa", "Fukui", "Shiga", "Mie", "Kyoto", "Osaka", "Nara", "Wakayama", "Hyogo", "Okayama", "Hiroshima",
    "Tottori", "Shimane", "Yamaguchi", "Ehime", "Kagawa", "Tokushima", "Kochi", "Fukuoka", "Nagasaki", "Saga",
    "Kumamoto", "Kagoshima", "Miyazaki", "Oita", "Okinawa", "abroad",
)  # fmt: skip
REGION_OF_PREFECTURE = np.repeat(  # runs of prefectures of one region, in the prefectures' order
    [0, 1, 2, 3, 4, 3, 4, 5, 2, 6, 5, 6, 7, 8, 9, 10, 11],
    [1, 6, 1, 7, 1, 1, 1, 2, 3, 1, 1, 5, 5, 4, 7, 1, 1],
)
FIRST_WESTERN_REGION = REGIONS.index("Kinki")
