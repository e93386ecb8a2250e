import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { transcriptElsewhere, transcriptPath } from '../../src/audit/transcript/transcript.ts';
import type { Entry } from '../../src/store/journal.ts';

const LINE = '{"no":1}\n';
const KEPT = { lines: 1, bytes: LINE.length, sha256: hash('sha256', LINE, 'hex') };
const begun = entry('activity.begun', { activity: 'a', verb: 'v', kind: 'read', key: 'a', input: null });

test.each([
  [
    'was driven here alone, its transcript is there',
    'here',
    [begun, entry('transcript.kept', KEPT)],
    true,
    [],
  ],
  ['was driven here alone, and its process was killed', 'here', [begun], false, []],
  ['was begun elsewhere and sent nothing', 'there', [], false, []],
  ['was driven elsewhere', 'there', [begun, entry('transcript.kept', KEPT)], false, [{ host: 'there' }]],
  ['was driven elsewhere until its process was killed', 'there', [begun], false, [{ host: 'there' }]],
  [
    'has said so already',
    'there',
    [begun, entry('transcript.kept', KEPT), entry('transcript.elsewhere', {})],
    false,
    [],
  ],
  [
    'went on elsewhere after it was driven here',
    'here',
    [
      entry('transcript.kept', KEPT),
      resumed('there'),
      entry('transcript.kept', { ...KEPT, sha256: 'f'.repeat(64) }),
    ],
    true,
    [{ host: 'there' }],
  ],
] as const)('a run that %s', (_, host, entries, isFileHere, noted) => {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-elsewhere-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  if (isFileHere) {
    mkdirSync(dirname(transcriptPath(home, 'R')), { recursive: true });
    writeFileSync(transcriptPath(home, 'R'), LINE);
  }
  const found = transcriptElsewhere(home, 'R', [started(host), ...entries], 'here');
  expect(found).toEqual(noted.map((body) => ({ type: 'transcript.elsewhere', body })));
});

function who(host: string) {
  return { name: 'Robin', login: 'robin', host, config: '' };
}

function started(host: string): Entry {
  const tool = { name: 'lifeboat', version: '1', node: 'v24' };
  const body = {
    runbook: 'r',
    version: '1',
    instance: 'i',
    input: null,
    mode: 'LIVE',
    tool,
    operator: 'Robin',
  };
  return entry('run.started', { ...body, who: who(host) });
}

function resumed(host: string): Entry {
  return entry('run.resumed', { pid: 1, who: who(host) });
}

function entry(type: string, body: unknown): Entry {
  return {
    index: 0,
    stream: 'run/R',
    seq: 1,
    at: '2026-01-01T00:00:00.000Z',
    by: 'Robin',
    hash: '',
    type,
    body,
  } as Entry;
}
