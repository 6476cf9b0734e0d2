"""Prints how good each learning rate was and chooses the best."""
import json
import pathlib
import sys

rates, accuracies = json.loads(sys.argv[1]), json.loads(sys.argv[2])
best = max(range(len(rates)), key=accuracies.__getitem__)
for i, (rate, accuracy) in enumerate(zip(rates, accuracies)):
    print(f"{rate:g}: {accuracy:.4f}" + (" best" if i == best else ""))
for name, value in zip(sys.argv[3:], (rates[best], accuracies[best])):
    file = pathlib.Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
