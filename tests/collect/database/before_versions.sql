-- The tables of a database from before versions of the schema were noted, as they were made then.

CREATE TABLE secrets (
    name VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE control (
    name VARCHAR NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE questions (
    question VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    settings JSON NOT NULL,
    PRIMARY KEY (question)
);

CREATE TABLE pictures (
    image VARCHAR NOT NULL,
    path TEXT NOT NULL,
    sha256 VARCHAR NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    generator VARCHAR NOT NULL,
    real BOOLEAN NOT NULL,
    gold BOOLEAN NOT NULL,
    PRIMARY KEY (image)
);

CREATE TABLE persons (
    person VARCHAR NOT NULL,
    platform VARCHAR NOT NULL,
    created FLOAT NOT NULL,
    excluded BOOLEAN NOT NULL,
    reason TEXT,
    simulated BOOLEAN NOT NULL,
    PRIMARY KEY (person)
);

CREATE TABLE events (
    id INTEGER NOT NULL,
    session VARCHAR,
    at FLOAT NOT NULL,
    kind VARCHAR NOT NULL,
    detail JSON NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE invitations (
    invitation_hash VARCHAR NOT NULL,
    note TEXT NOT NULL,
    person VARCHAR,
    at FLOAT NOT NULL,
    PRIMARY KEY (invitation_hash)
);

CREATE TABLE trials (
    trial VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    slot INTEGER NOT NULL,
    position INTEGER NOT NULL,
    block INTEGER NOT NULL,
    role VARCHAR NOT NULL,
    images JSON NOT NULL,
    prompt TEXT,
    expected TEXT,
    repeats VARCHAR,
    PRIMARY KEY (trial),
    FOREIGN KEY(question) REFERENCES questions (question)
);

CREATE INDEX trials_by_slot ON trials (question, slot, position);

CREATE TABLE identities (
    person VARCHAR NOT NULL,
    platform VARCHAR NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (person),
    FOREIGN KEY(person) REFERENCES persons (person)
);

CREATE TABLE sessions (
    session VARCHAR NOT NULL,
    person VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    slot INTEGER,
    "plan" JSON,
    status VARCHAR NOT NULL,
    token_hash VARCHAR NOT NULL,
    resume_hash VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    language VARCHAR NOT NULL,
    consent_hash VARCHAR,
    consent_version VARCHAR,
    consented FLOAT,
    checked FLOAT,
    screen JSON,
    frame_ms FLOAT,
    begun FLOAT,
    breaks INTEGER NOT NULL,
    place INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    debriefed FLOAT,
    started FLOAT NOT NULL,
    seen FLOAT NOT NULL,
    ended FLOAT,
    pay FLOAT,
    PRIMARY KEY (session),
    UNIQUE (person, question),
    FOREIGN KEY(person) REFERENCES persons (person),
    FOREIGN KEY(question) REFERENCES questions (question),
    UNIQUE (token_hash),
    UNIQUE (resume_hash)
);

CREATE TABLE slots (
    question VARCHAR NOT NULL,
    slot INTEGER NOT NULL,
    session VARCHAR,
    lease_until FLOAT NOT NULL,
    done BOOLEAN NOT NULL,
    PRIMARY KEY (question, slot),
    FOREIGN KEY(question) REFERENCES questions (question)
);

CREATE TABLE responses (
    session VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    "key" VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    said JSON NOT NULL,
    marks JSON NOT NULL,
    seconds FLOAT NOT NULL,
    intended_ms FLOAT,
    shown_ms FLOAT,
    dropped INTEGER,
    exposure JSON,
    valid BOOLEAN NOT NULL,
    "right" BOOLEAN,
    answered FLOAT NOT NULL,
    PRIMARY KEY (session, trial, attempt),
    UNIQUE (session, "key"),
    FOREIGN KEY(session) REFERENCES sessions (session),
    FOREIGN KEY(trial) REFERENCES trials (trial)
);

CREATE INDEX responses_by_trial ON responses (trial);

CREATE TABLE skips (
    session VARCHAR NOT NULL,
    trial VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    comment TEXT NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (session, trial),
    FOREIGN KEY(session) REFERENCES sessions (session),
    FOREIGN KEY(trial) REFERENCES trials (trial)
);

CREATE TABLE comments (
    session VARCHAR NOT NULL,
    clear INTEGER,
    fair INTEGER,
    text TEXT NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (session),
    FOREIGN KEY(session) REFERENCES sessions (session)
);
