import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A fresh folder for one test, removed after it. */
export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-journal-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}
