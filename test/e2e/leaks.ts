import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenProcess } from '../bench-kit/process-tree.ts';

/** Where a secret was found, and in which form; empty is what everybody hopes for. */
export type Leaks = string[];

/** Looks for secrets in a text, or in bytes as latin1, in every form that programs give to text. */
export function leaksIn(where: string, text: string, secrets: readonly string[]): Leaks {
  return secrets.flatMap((secret, index) =>
    Object.entries(formsOf(secret))
      .filter(([, form]) => text.includes(form))
      .map(([name]) => `${where}: secret ${index}, ${name}`),
  );
}

/** Every file below a folder, and every name. */
export function leaksInFolder(folder: string, secrets: readonly string[]): Leaks {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.flatMap((name) => {
    const path = join(folder, name);
    const bytes = statSync(path).isFile() ? readFileSync(path, 'latin1') : '';
    return [...leaksIn(`the name ${name}`, name, secrets), ...leaksIn(name, bytes, secrets)];
  });
}

export function leaksInProcesses(processes: readonly SeenProcess[], secrets: readonly string[]): Leaks {
  return processes.flatMap(({ pid, cmdline, environ }) => [
    ...leaksIn(`argv of ${pid}`, cmdline, secrets),
    ...leaksIn(`environment of ${pid}`, environ, secrets),
  ]);
}

/**
 * Base64 shifts with what stands before a text, so its three shifts are looked for, without the ends that
 * depend on neighbours.
 */
function formsOf(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret);
  const shifted = (by: number) =>
    Buffer.concat([Buffer.alloc(by), bytes])
      .toString('base64')
      .slice(by === 0 ? 0 : 4, -4);
  return {
    plain: secret,
    hex: bytes.toString('hex'),
    'url-encoded': encodeURIComponent(secret),
    utf16: bytes.toString('latin1').split('').join('\0'),
    ...Object.fromEntries([0, 1, 2].map((by) => [`base64 shifted by ${by}`, shifted(by)])),
  };
}
