ALTER TABLE tenants
    ADD COLUMN move_id uuid,
    ADD COLUMN move_state text CONSTRAINT tenants_move_state_known
        CHECK (move_state IN ('leaving', 'left', 'arriving', 'returning', 'arrived')),
    ADD COLUMN move_place text;
