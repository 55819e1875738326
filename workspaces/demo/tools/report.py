"""Prints the items that have to be ordered again."""

import csv
import sys


def low_items(rows):
    for row in rows:
        if int(row["quantity"]) < int(row["reorder_at"]):
            yield row


def main(path):
    with open(path, newline="", encoding="utf-8") as handle:
        for row in low_items(csv.DictReader(handle)):
            print(f"{row['sku']:<10} {row['name']:<24} {row['quantity']:>5}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
