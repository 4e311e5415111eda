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
INSERT INTO "job" VALUES(1,'cff8579c097c459c1fb0d7fe9d1b2db470d8a417e0430e6d542750af74686464','{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {"tuned": null}, "night": "2026-11-07", "overrides": [], "responses": "/srv/eval/answers/n6.jsonl", "suite": "/srv/eval/answers/suite.yaml", "tasks": [], "track": "nightly"}','nightly','2026-11-07','/srv/eval/answers/runs/nightly/2026-11-07-cff8579c',5,1,NULL,'queued','',0,0,0,0,0,0,NULL,NULL,0.0,0,NULL,'','eval','2026-11-29T14:46:53+0000',NULL,NULL);
INSERT INTO "job" VALUES(2,'a6a866430e2cf9fcde09b6b540458a91c290c906bd2229f68ca09d82cb089e9a','{"checkpoint": null, "data_dir": null, "limit": null, "max_hours": null, "models": {"tuned": null}, "night": "2026-11-08", "overrides": [], "responses": "/srv/eval/answers/n6.jsonl", "suite": "/srv/eval/answers/suite.yaml", "tasks": [], "track": "nightly"}','nightly','2026-11-08','/srv/eval/answers/runs/nightly/2026-11-08-a6a86643',5,1,NULL,'queued','',0,0,0,0,0,0,NULL,NULL,0.0,0,NULL,'','eval','2026-11-29T14:47:09+0000',NULL,NULL);
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
INSERT INTO "job_event" VALUES(1,1,'2026-11-29T14:46:53+0000','eval','submitted','');
INSERT INTO "job_event" VALUES(2,2,'2026-11-29T14:47:09+0000','eval','submitted','');
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
CREATE INDEX ix_job_track ON job (track, id);
CREATE INDEX ix_job_waiting ON job (state, priority, id);
CREATE INDEX ix_message_state ON message (state, next_try);
CREATE INDEX ix_job_event_job_id ON job_event (job_id);
CREATE INDEX ix_checkpoint_watch ON checkpoint (watch, path, id);
COMMIT;
