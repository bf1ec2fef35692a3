// SQL as text, with values written as literals: what the log shows is what ran, letter by letter.

// sql`select qwf.finish(${job}, ${token}, 'completed', ${{ by: 'box-a' }})`
export function sql(parts, ...values) {
  return parts.reduce((text, part, place) => text + literal(values[place - 1]) + part);
}

// A value as PostgreSQL reads it; objects become JSON.
export function literal(value) {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}
