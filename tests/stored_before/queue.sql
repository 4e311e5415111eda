BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE checkpoint (
	id INTEGER NOT NULL, 
	watch VARCHAR NOT NULL, 
	path VARCHAR NOT NULL, 
	step BIGINT, 
	state VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	identity VARCHAR NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	pin VARCHAR NOT NULL, 
	pinned VARCHAR NOT NULL, 
	job_id INTEGER, 
	seen VARCHAR NOT NULL, 
	CONSTRAINT pk_checkpoint PRIMARY KEY (id), 
	CONSTRAINT fk_checkpoint_watch FOREIGN KEY(watch) REFERENCES watch (name), 
	CONSTRAINT fk_checkpoint_job_id FOREIGN KEY(job_id) REFERENCES job (id)
);
CREATE TABLE idempotency (
	owner VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	body VARCHAR NOT NULL, 
	job_id INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT pk_idempotency PRIMARY KEY (owner, "key"), 
	CONSTRAINT fk_idempotency_job_id FOREIGN KEY(job_id) REFERENCES job (id)
);
CREATE TABLE job (
	id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	spec TEXT NOT NULL, 
	track VARCHAR NOT NULL, 
	label VARCHAR NOT NULL, 
	run_dir VARCHAR NOT NULL, 
	priority INTEGER NOT NULL, 
	slots INTEGER NOT NULL, 
	max_hours DOUBLE, 
	state VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	fence INTEGER NOT NULL, 
	beat INTEGER NOT NULL, 
	turn INTEGER NOT NULL, 
	starts INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	stored BIGINT NOT NULL, 
	not_before DOUBLE, 
	retry_at DOUBLE, 
	wait_s DOUBLE NOT NULL, 
	cancel BOOLEAN NOT NULL, 
	exit_code INTEGER, 
	error TEXT NOT NULL, 
	requested_by VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	started VARCHAR, 
	ended VARCHAR, 
	CONSTRAINT pk_job PRIMARY KEY (id), 
	CONSTRAINT uq_job_key UNIQUE ("key")
);
INSERT INTO "job" VALUES(1,'1240c4cd0b089b2b5a955cad88812ed2c8c4a7a2f0d3bbb2c0881e927c5629d0','{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {}, "night": "2026-10-05", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}','private_suite','2026-10-05','/srv/eval/jobs/private_suite/2026-10-05-1240c4cd',5,1,NULL,'finished','eval1:28829:959f90',1,1,1,1,0,0,NULL,NULL,0.0,0,0,'','eval','2026-11-25T22:48:52+0000','2026-11-25T22:48:56+0000','2026-11-25T22:49:16+0000');
INSERT INTO "job" VALUES(2,'6774611bca508c2a399cc2d50272d99bd4e25b2c885e035ae7065d65441b176c','{"checkpoint": null, "data_dir": null, "limit": 2, "max_hours": null, "models": {}, "night": "2026-10-06", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}','private_suite','2026-10-06','/srv/eval/jobs/private_suite/2026-10-06-6774611b',7,1,NULL,'queued','',0,0,0,0,0,0,NULL,NULL,0.0,0,NULL,'','eval','2026-11-25T22:49:20+0000',NULL,NULL);
INSERT INTO "job" VALUES(3,'ef5e1916d5b00d18f461340da6a8afc01972ba802da148747e96ba7e9e51efc3','{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": 2.0, "models": {"tuned": null}, "night": "2026-10-07", "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}','private_suite','2026-10-07','/srv/eval/jobs/private_suite/2026-10-07-ef5e1916',5,1,2.0,'cancelled','',0,0,0,0,0,0,NULL,NULL,0.0,1,NULL,'','eval','2026-11-25T22:49:23+0000',NULL,'2026-11-25T22:49:27+0000');
CREATE TABLE job_event (
	id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	at VARCHAR NOT NULL, 
	who VARCHAR NOT NULL, 
	what VARCHAR NOT NULL, 
	detail TEXT NOT NULL, 
	CONSTRAINT pk_job_event PRIMARY KEY (id), 
	CONSTRAINT fk_job_event_job_id FOREIGN KEY(job_id) REFERENCES job (id)
);
INSERT INTO "job_event" VALUES(1,1,'2026-11-25T22:48:52+0000','eval','submitted','');
INSERT INTO "job_event" VALUES(2,1,'2026-11-25T22:48:56+0000','eval1:28829:959f90','leased','');
INSERT INTO "job_event" VALUES(3,1,'2026-11-25T22:48:56+0000','eval1:28829:959f90','started','python -m genbench.cli run --run-dir=/srv/eval/jobs/private_suite/2026-10-05-1240c4cd --night-of=2026-10-05 --responses=/srv/eval/suite/responses.jsonl -- /srv/eval/suite/suite.yaml');
INSERT INTO "job_event" VALUES(4,1,'2026-11-25T22:49:16+0000','eval1:28829:959f90','finished','');
INSERT INTO "job_event" VALUES(5,2,'2026-11-25T22:49:20+0000','eval','submitted','');
INSERT INTO "job_event" VALUES(6,3,'2026-11-25T22:49:23+0000','eval','submitted','');
INSERT INTO "job_event" VALUES(7,3,'2026-11-25T22:49:27+0000','eval','cancelled','');
CREATE TABLE message (
	id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	track VARCHAR NOT NULL, 
	text TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	at VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	tries INTEGER NOT NULL, 
	next_try DOUBLE NOT NULL, 
	wait_s DOUBLE NOT NULL, 
	error TEXT NOT NULL, arrived TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_message PRIMARY KEY (id), 
	CONSTRAINT uq_message_key UNIQUE ("key")
);
CREATE TABLE schedule (
	name VARCHAR NOT NULL, 
	cron VARCHAR NOT NULL, 
	zone VARCHAR NOT NULL, 
	spec TEXT NOT NULL, 
	runs VARCHAR NOT NULL, 
	priority INTEGER NOT NULL, 
	slots INTEGER NOT NULL, 
	deadline_hours DOUBLE NOT NULL, 
	last VARCHAR NOT NULL, 
	created_by VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	CONSTRAINT pk_schedule PRIMARY KEY (name)
);
INSERT INTO "schedule" VALUES('tickets','0 2 * * *','Europe/Berlin','{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {}, "night": null, "overrides": [], "responses": "/srv/eval/suite/responses.jsonl", "suite": "/srv/eval/suite/suite.yaml", "tasks": [], "track": null}','/srv/eval/runs',5,1,24.0,'2026-11-25T22:49:30.737194+00:00','eval','2026-11-25T22:49:30+0000');
CREATE TABLE token (
	name VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	scope VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	expires DOUBLE, 
	used VARCHAR, 
	revoked BOOLEAN NOT NULL, 
	CONSTRAINT pk_token PRIMARY KEY (name), 
	CONSTRAINT uq_token_digest UNIQUE (digest)
);
CREATE TABLE watch (
	name VARCHAR NOT NULL, 
	rules TEXT NOT NULL, 
	created_by VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	polled DOUBLE, 
	CONSTRAINT pk_watch PRIMARY KEY (name)
);
INSERT INTO "watch" VALUES('training','{"data_dir": null, "every": 1, "folder": "/srv/eval/train", "marker": "auto", "most_pending": 2, "overrides": [], "patterns": ["checkpoint-*", "step_*", "global_step*", "iter_*"], "pin": "auto", "priority": 5, "responses": null, "runs": "/srv/eval/runs", "settle_s": 60.0, "suite": "/srv/eval/sums/suite.yaml", "tasks": [], "track": "training", "until": null}','eval','2026-11-25T22:49:35+0000',1.79564697513166737557e+09);
CREATE TABLE worker (
	id VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	pid INTEGER NOT NULL, 
	start_ticks BIGINT NOT NULL, 
	slots INTEGER NOT NULL, 
	devices VARCHAR NOT NULL, 
	beat INTEGER NOT NULL, 
	seen DOUBLE NOT NULL, 
	state VARCHAR NOT NULL, 
	started VARCHAR NOT NULL, 
	CONSTRAINT pk_worker PRIMARY KEY (id)
);
INSERT INTO "worker" VALUES('eval1:28829:959f90','eval1',28829,230196,1,'0',1,1.7956469517580785751e+09,'stopped','2026-11-25T22:48:56+0000');
CREATE INDEX ix_job_track ON job (track, id);
CREATE INDEX ix_job_waiting ON job (state, priority, id);
CREATE INDEX ix_message_state ON message (state, next_try);
CREATE INDEX ix_job_event_job_id ON job_event (job_id);
CREATE INDEX ix_checkpoint_watch ON checkpoint (watch, path, id);
COMMIT;
