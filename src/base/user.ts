import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** From HOME, else the system's list of users. Undefined for an unlisted user id, as in containers. */
export function homeIfAny(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['HOME']) return env['HOME'];
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for a user id that is not listed. */
export function loginIfAny(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
