/** What the help of the service's commands says beside their options. */

export const BACKUP_HELP = `
A backup is of one moment, and the same for SQLite and PostgreSQL: it can be
restored into either. Keep it as you keep the database: tokens are in it as
hashes only, secrets encrypted, everything else as it is. The key of the
secrets is not in it, and a service on the restored data needs it.`

export const SERVE_HELP = `
ZONEWRIGHT_DATABASE sets --database where others must not see its password.
The first start prints an administrator's token on standard error, once;
ZONEWRIGHT_BOOTSTRAP_TOKEN sets it instead.
Second factors, security questions and codes are stored encrypted. Their key
is in the file secrets.key of the data folder, which the first start makes, or
in ZONEWRIGHT_SECRETS_KEY (32 characters or more), which --database requires.
Ready, the command prints one line of JSON on standard output:
{"event":"listening","http":"http://127.0.0.1:8080/v4","dns":"127.0.0.1:5353"}.
SIGTERM and Ctrl-C let requests under way finish. The log holds no tokens,
headers or bodies.`

export const ROTATE_KEY_HELP = `
With a key file the command makes the new key, and running services find it.
With ZONEWRIGHT_SECRETS_KEY=NEW,FORMER first restart every process with both
keys, then run this, then restart them with the new key alone. If the command
is stopped, run it again.`
