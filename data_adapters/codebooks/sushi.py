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

PUBLISHED_COLUMNS = {
    ITEM_FILE: (
        "50703a5fac96", "0c02fbd69863", "4883d03fdca8", "afd38eadf5e0", "3f0528e9b46d", "7a86d17c3fff", "59301d2d9598",
        "10fc1a8a0954", "a973191abc42",
    ),
    USER_FILE: (
        "8457e6ceeaee", "f8bcaebac3b0", "05fbb9704ff7", "5b646ab2b10a", "d87b911fc46f", "002bff3907ad", "760e2431ed46",
        "b7283f1fc48c", "8a4d036d5862", "55976d742f0a", "7421b92b8a11",
    ),
    ORDER_FILES["a"]: (
        "66bf88f4477a", "0422a8177f7a", "b03de15a4b82", "4c1729113c82", "1387262575a8", "c0dd7fa64694", "8588e9dd04ea",
        "7fbf27fc8c1e", "7ee5ffa8f3c0", "0ed106f88f14", "31c573d3f5a0", "415ccb85f095",
    ),
    ORDER_FILES["b"]: (
        "66bf88f4477a", "0422a8177f7a", "1d7bb6afb09e", "7d4078a4fad2", "64387d3a9a5b", "673d35824f63", "c2a8e97a903b",
        "247d6512582c", "be975aca5605", "7946dd43b156", "5ba2f0c7ac00", "8dc2a647eeeb",
    ),
}  # fmt: skip
"""The first twelve hexadecimal digits of the SHA-256 of each column of the published files, a value a line."""

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
