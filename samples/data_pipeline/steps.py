"""The steps of the pipeline, by their names: steps.py NAME OUTPUT_OR_INPUT_FILES... Plain Python: any image with it will do."""
import csv
import html
import json
import pathlib
import random
import sys


def create(name):
    file = pathlib.Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.open("w", newline="")


def read(name):
    with open(name, newline="") as f:
        return list(csv.DictReader(f))


def write(name, rows):
    with create(name) as f:
        table = csv.DictWriter(f, rows[0])
        table.writeheader()
        table.writerows(rows)


def collect(count, sales):
    """Sales of ice cream: what people wrote down, gaps and mistakes included."""
    dice = random.Random(4)
    days = []
    for day in range(int(count)):
        degrees = dice.gauss(18, 7)
        sold = max(0, round(12 * degrees + 80 * (day % 7 >= 5) + dice.gauss(0, 25)))
        days.append(dict(day=day, degrees="" if dice.random() < 0.05 else f"{degrees:.1f}", sold=-1 if dice.random() < 0.03 else sold))
    write(sales, days)
    print(f"{len(days)} days")


def features(sales, table, kept):
    """Leaves out days that cannot be right, and makes numbers of the rest."""
    days = read(sales)
    rows = [
        dict(degrees=float(day["degrees"]), weekend=int(int(day["day"]) % 7 >= 5), sold=int(day["sold"]))
        for day in days if day["degrees"] and int(day["sold"]) >= 0
    ]
    write(table, rows)
    with create(kept) as f:
        f.write(str(len(rows)))
    print(f"{len(rows)} of {len(days)} days can be used")


def fit(table, model):
    """Least squares: sold = a * degrees + b * weekend + c, by the normal equations."""
    train = [row for i, row in enumerate(read(table)) if i % 5]
    x = [[float(row["degrees"]), float(row["weekend"]), 1.0] for row in train]
    y = [float(row["sold"]) for row in train]
    m = [[sum(r[i] * r[j] for r in x) for j in range(3)] + [sum(r[i] * v for r, v in zip(x, y))] for i in range(3)]
    for i in range(3):
        for k in range(3):
            if k != i:
                factor = m[k][i] / m[i][i]
                m[k] = [a - factor * b for a, b in zip(m[k], m[i])]
    weights = [m[i][3] / m[i][i] for i in range(3)]
    with create(model) as f:
        json.dump(dict(zip(("degrees", "weekend", "base"), weights)), f)
    print("sold = {:.1f} * degrees + {:.1f} on weekends + {:.1f}".format(*weights))


def evaluate(table, model, metrics, report, ui):
    """Measures the model on days that it has not seen, and writes what people look at."""
    test = [row for i, row in enumerate(read(table)) if i % 5 == 0]
    weights = json.loads(pathlib.Path(model).read_text())
    guess = [float(r["degrees"]) * weights["degrees"] + float(r["weekend"]) * weights["weekend"] + weights["base"] for r in test]
    sold = [float(r["sold"]) for r in test]
    mean = sum(sold) / len(sold)
    missed = sum((a - b) ** 2 for a, b in zip(sold, guess))
    r2 = 1 - missed / sum((a - mean) ** 2 for a in sold)
    rmse = (missed / len(sold)) ** 0.5
    print(f"r2={r2:.3f} rmse={rmse:.1f} on {len(test)} days")
    with create(metrics) as f:
        json.dump(dict(metrics=[dict(name="r2", numberValue=r2, format="RAW"), dict(name="rmse", numberValue=rmse, format="RAW")]), f)
    dots = "".join(f'<circle cx="{a:.0f}" cy="{500 - b:.0f}" r="3"/>' for a, b in zip(sold, guess))
    page = f"<h1>Sold and foretold</h1><p>{html.escape(json.dumps(weights))}</p><svg viewBox='0 0 500 500' width='500'>{dots}</svg>"
    with create(report) as f:
        f.write(page)
    rows = "".join(f"{name},{value:.2f}\n" for name, value in weights.items())
    with create(ui) as f:
        json.dump(dict(outputs=[
            dict(type="markdown", storage="inline", source=f"# Ice cream\nOn days not seen before the model explains **{r2:.0%}** of the sales."),
            dict(type="table", storage="inline", format="csv", header=["feature", "weight"], source=rows),
            dict(type="web-app", storage="inline", source=page),
        ]), f)


if __name__ == "__main__":
    dict(collect=collect, features=features, fit=fit, evaluate=evaluate)[sys.argv[1]](*sys.argv[2:])
