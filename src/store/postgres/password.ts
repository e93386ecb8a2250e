import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { Address, Server } from './address.ts';

/** A password from where libpq looks for one, or why there is none: the end of a hint. */
export type FoundPassword = { readonly secret: Secret } | { readonly why: string };

/** Bits of the mode by which others than the owner get at a file. */
const OTHERS = 0o077;

/**
 * The password for a server: the variable PGPASSWORD, else the first line of the password file that fits
 * (libpq, "The Password File"). A file that others can read is passed over, as libpq does. Never throws.
 */
export function findPassword(
  address: Pick<Address, 'user' | 'database'>,
  { host, port }: Server,
  env: NodeJS.ProcessEnv,
): FoundPassword {
  const given = env['PGPASSWORD'];
  if (given !== undefined && given !== '') return { secret: new Secret(given) };
  const path = env['PGPASSFILE'] || join(env['HOME'] || homedir(), '.pgpass');
  const shown = show(path, 120);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { why: `${shown} is not a plain file` };
    if ((stats.mode & OTHERS) !== 0) return { why: `others can read ${shown}: \`chmod 600\` it` };
    const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), address.database, address.user];
    for (const line of readFileSync(path, 'utf8').split(/\r?\n/u)) {
      const fields = fieldsOf(line);
      const password = fields[4] ?? '';
      if (password === '' || !wanted.every((want, at) => fields[at] === '*' || fields[at] === want)) continue;
      return { secret: new Secret(password) };
    }
    return { why: `no line of ${shown} fits` };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { why: isMissing ? `there is no ${shown}` : `${shown} cannot be read` };
  }
}

/** `host:port:database:user:password`, where a backslash takes the meaning from a colon or a backslash. */
function fieldsOf(line: string): readonly string[] {
  if (line.startsWith('#')) return [];
  const fields = [''];
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === ':') {
      fields.push('');
      continue;
    }
    if (line[at] === '\\' && at + 1 < line.length) at += 1;
    fields.push(`${fields.pop() ?? ''}${line[at] ?? ''}`);
  }
  return fields;
}
