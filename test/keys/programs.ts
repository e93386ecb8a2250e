import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * A `describe` that needs installed programs. If one is missing it is skipped with a message; with CI in the
 * environment it fails, because there a missing program is a broken set-up.
 */
export function describeWith(programs: readonly string[], title: string, body: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) {
    describe(title, body);
    return;
  }
  const reason = `${missing.join(', ')} not installed`;
  if (process.env['CI'] === undefined) {
    process.stderr.write(`skipped: ${title}: ${reason}\n`);
    describe.skip(`${title} (skipped: ${reason})`, body);
    return;
  }
  it(`${title}: the programs it needs are here`, () => {
    expect.fail(reason);
  });
}

function isInstalled(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
