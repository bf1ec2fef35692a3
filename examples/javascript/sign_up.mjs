// Signs somebody up: the account and its mail, or neither. `db` is a client of pg or of PGlite.
export async function signUp(db, email) {
  await db.query('begin');
  try {
    const { rows: [user] } = await db.query(
      'insert into users (email) values ($1) returning id', [email]);
    const { rows: [job] } = await db.query(
      "select qwf.enqueue('send_email', $1, queue => 'cpu', key => $2) as id",
      [{ to: email }, `welcome ${user.id}`]);
    await db.query('commit');
    return job.id;
  } catch (error) {
    await db.query('rollback');
    throw error;
  }
}
