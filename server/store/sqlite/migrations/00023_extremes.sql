-- +goose Up

-- The points that stand for stretches of long series, so that a chart of a million points reads some thousands: the least and
-- the greatest of each complete stretch, or its first where none is finite. A series from before this table has none for its
-- first points; these are read whole.
CREATE TABLE extremes (
    series     INTEGER NOT NULL REFERENCES series (seq) ON DELETE CASCADE,
    stretch    INTEGER NOT NULL, -- length in points
    place      INTEGER NOT NULL, -- of the point in its series, from 0
    n          INTEGER NOT NULL, -- as in points, like the columns below
    step       INTEGER NOT NULL,
    printed_at INTEGER NOT NULL,
    value      REAL,
    PRIMARY KEY (series, stretch, place)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE extremes;
