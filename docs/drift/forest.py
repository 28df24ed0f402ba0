"""Prints the error of River's adaptive random forest in each 1,000 examples of a
stream, predicting each example before learning it.

    pip install river==0.26.1
    python docs/drift/forest.py stream.csv > forest
"""
import csv
import sys

from river import forest

model = forest.ARFClassifier(n_models=10, seed=1)
wrong = 0
with open(sys.argv[1]) as stream:
    for i, row in enumerate(csv.reader(stream), 1):
        x, y = {j: float(v) for j, v in enumerate(row[:-1])}, int(row[-1])
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
        if i % 1000 == 0:
            print(wrong / 1000, flush=True)
            wrong = 0
