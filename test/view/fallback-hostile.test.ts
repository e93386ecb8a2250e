import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FallbackAction, FallbackStep } from '../../machines/parts/fallback-step.ts';
import { show } from '../../src/base/text.ts';
import { type FallbackInstances, renderFallback } from '../../src/view/fallback/render-fallback.ts';
import { isTypeable } from '../../src/view/fallback/shell-text.ts';

/** Text that would like to be code, and any other. */
const hostile = fc.oneof(
  fc.constantFrom(
    "'; touch pwned; '",
    '$(touch pwned)',
    '`touch pwned`',
    '\n touch pwned\n',
    '\\\n touch pwned # ',
    '"; touch pwned; "',
    `\${IFS}; touch pwned`,
    "'\\''; touch pwned",
    '-n',
    '--config=/etc/passwd',
    '\u001b]0;pwned\u0007',
    '\u202etouch\u2066 pwned',
    '!! !$ ~ * ? [a-z] {a,b}',
    'EOF\ntouch pwned',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...`'"\\$\`(){};&|<>\n\r #!~*?[]=%-a`), maxLength: 40 }),
);

test('a hostile text stays one word: it is shown, typed and passed on unchanged or not at all, and is never run', () => {
  fc.assert(
    fc.property(fc.tuple(hostile, hostile, hostile, hostile), ([a, b, c, d]) => {
      const actions: FallbackAction[] = [
        { do: 'run', command: ['cf', a, b, 'plain', c] },
        { do: 'run', command: ['cf', d], otherwise: { when: c, command: ['cf', b, a] } },
        { do: 'by-hand', what: a, copy: [b, c] },
        { do: 'ask', as: 'ANSWERED', what: b, suggested: `${c}.` },
        { do: 'ask-secret', as: 'SECRET', what: c },
        { do: 'confirm-name', name: d, what: a },
        {
          do: 'call',
          on: 'instance',
          method: 'PATCH',
          path: '/backups/:id',
          id: { known: d },
          body: { [a]: { known: b }, typed: { variable: 'ANSWERED', what: a }, hidden: { secret: 'SECRET' } },
          keep: { field: 'id', as: 'KEPT' },
        },
        {
          do: 'call',
          on: 'target',
          method: 'POST',
          path: '/backups',
          keep: { field: 'id', as: 'MADE' },
          once: { lookFirst: b, list: '/backups' },
        },
        { do: 'wait', on: 'target', task: 'backup', id: { known: a } },
        { do: 'wait-instance', on: 'instance', since: c },
      ];
      const secret = `${printable(d)}-hidden`;
      const isFirstTyped = [a, b, c].every(isTypeable);
      const isSecondTyped = [d, b, a].every(isTypeable);
      const byHand = [isFirstTyped, isSecondTyped].flatMap((isTyped) => (isTyped ? [] : ['']));
      const answers = [...byHand, '', '', '', secret, printable(d), 'tok-Zq7m', 'tok-Zq7m', 'yes'];
      const ran = run([{ state: a, title: b, notes: [c, d], actions }], answers, [a, b, c, d]);
      const log = isFirstTyped || isSecondTyped ? ['cf.log'] : [];
      expect(ran.files).toEqual(['bin', 'body', ...log, 'curl.log', 'fallback.sh', 'tmp']);
      expect(ran.cf).toEqual([...(isFirstTyped ? [a, b, 'plain', c] : []), ...(isSecondTyped ? [d] : [])]);
      expect(JSON.parse(ran.body)).toEqual({
        [a.toWellFormed()]: printable(b),
        typed: printable(`${c}.`),
        hidden: secret,
      });
      expect(ran.status, ran.screen).toBe(0);
      expect(ran.screen).toContain('That was the last step.');
      // Listing the processes of the machine shows neither.
      expect(ran.curl).not.toMatch(/-hidden|tok-Zq7m/u);
      expect(ran.text).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
    }),
    { numRuns: 60 },
  );
}, 1_200_000);

test('an invalid address is not called', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const steps: FallbackStep[] = [
        {
          state: 's',
          title: 't',
          notes: [],
          actions: [{ do: 'call', on: 'instance', method: 'GET', path: '' }],
        },
      ];
      const ran = run(steps, ['', 'token', 'on'], [text, 'n', 'n', 'n'], `https://host/${text} /`);
      expect(ran.files).not.toContain('pwned');
      expect(ran.screen).toContain('that is not an address');
    }),
    { numRuns: 20 },
  );
}, 600_000);

/** What is left of a text on one line of a terminal. */
function printable(text: string): string {
  return show(text, 2_000);
}

function run(
  steps: readonly FallbackStep[],
  answers: readonly string[],
  [name = '', how = '', path = '', runId = '']: readonly string[],
  url = 'https://host/service-instances/4a1f',
) {
  const folder = mkdtempSync(join(tmpdir(), 'fallback-'));
  try {
    const instance = { name, url, revision: 62 as const, tokenHow: how, ca: path };
    const instances: FallbackInstances = { instance, target: { ...instance, name: how } };
    const text = renderFallback(
      { runId, title: name, at: how, writtenAt: new Date(0), path },
      steps,
      instances,
    );
    for (const part of ['bin', 'tmp']) mkdirSync(join(folder, part));
    writeFileSync(join(folder, 'fallback.sh'), text);
    program(folder, 'cf', `printf '%s\\0' "$@" >> '${folder}/cf.log'`);
    program(folder, 'curl', CURL.replaceAll('HERE', folder));
    const { status, stdout, stderr } = spawnSync('bash', ['fallback.sh'], {
      cwd: folder,
      env: {
        PATH: `${folder}/bin:${process.env['PATH']}`,
        TMPDIR: join(folder, 'tmp'),
        PAUSE: '0',
        HOME: folder,
      },
      input: answers.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
      timeout: 200_000,
    });
    const files = readdirSync(folder).toSorted();
    const read = (file: string) => (files.includes(file) ? readFileSync(join(folder, file), 'utf8') : '');
    const left = readdirSync(join(folder, 'tmp'));
    expect(left).toEqual([]);
    const screen = `${stdout}\n${stderr}`;
    return {
      status,
      screen,
      files,
      text: text.replaceAll('\n', ''),
      body: read('body'),
      curl: read('curl.log'),
      cf: read('cf.log').split('\0').slice(0, -1),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Answers everything with the same, keeps the body that it was given, and takes no word for an option that is
 * none.
 */
const CURL = `
printf '%s\\n' "$@" >> 'HERE/curl.log'
out=
while [ $# -gt 0 ]; do
  case $1 in
    --output) out=$2; shift ;;
    --data-binary) cat > 'HERE/body' ;;
    --config | --cookie | --cookie-jar | --write-out | --request | --header | --connect-timeout | --max-time | --retry) shift ;;
  esac
  shift
done
printf '{"id":7,"status":"done","state":"available","updated_at":"later"}' > "$out"
printf 200`;

function program(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}
