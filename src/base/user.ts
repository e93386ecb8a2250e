import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The home of whoever runs this: the variable HOME, else what the system's list of users says. Undefined for
 * a user id that is on no such list, as containers have them.
 */
export function homeIfAny(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['HOME']) return env['HOME'];
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/** The login name, undefined for a user id that is on no list of users. */
export function loginIfAny(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
