-- +goose Up

-- The points that stand for stretches of long series, so that a chart of a million points reads some thousands: the least and
-- the greatest of each complete stretch, or its first where none is finite. A series from before this table has none for its
-- first points; these are read whole.
CREATE TABLE extremes (
    series     BIGINT NOT NULL REFERENCES series (seq) ON DELETE CASCADE,
    stretch    BIGINT NOT NULL, -- length in points
    place      BIGINT NOT NULL, -- of the point in its series, from 0
    n          BIGINT NOT NULL, -- as in points, like the columns below
    step       BIGINT NOT NULL,
    printed_at BIGINT NOT NULL,
    value      DOUBLE PRECISION,
    PRIMARY KEY (series, stretch, place)
);

-- +goose Down
DROP TABLE extremes;
