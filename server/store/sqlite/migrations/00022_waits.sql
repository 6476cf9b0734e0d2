-- +goose Up

-- What runs wait for, in lists: few nodes wait, and they are found without reading the others.
CREATE INDEX nodes_waiting ON nodes (run) WHERE waiting <> '';

-- +goose Down
DROP INDEX nodes_waiting;
