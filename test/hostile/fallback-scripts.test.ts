import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { FallbackStep } from '../../machines/parts/fallback-step.ts';
import { type Challenge, challengeText, parseChallenge } from '../../src/approvals/challenge.ts';
import { NAMESPACE } from '../../src/approvals/ssh-signature.ts';
import { verifySignature } from '../../src/approvals/verify-signature.ts';
import type { HttpCall } from '../../src/audit/transcript/line.ts';
import { openTranscript, transcriptPath } from '../../src/audit/transcript/transcript.ts';
import { show } from '../../src/base/text.ts';
import { printError } from '../../src/cli/print-error.ts';
import { renderFallback } from '../../src/view/fallback/render-fallback.ts';
import { quoted } from '../../src/view/fallback/shell-text.ts';
import { somePeople } from '../approvals/people.ts';
import { actingIn } from './acting.ts';
import { corpus } from './corpus.ts';
import { count } from './figures.ts';

const TEXTS = corpus();
const SHORT = TEXTS.filter((text) => text.length < 100_000);
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function said(thrown: unknown): string {
  let all = '';
  printError(thrown, { write: (text: string) => (all += text) } as never);
  return all;
}

describe('a fallback script with a hostile text in every place', () => {
  test('is a bash script in which no text has an effect, and no text is code', () => {
    for (let at = 0; at < TEXTS.length; at += 30) {
      const steps = TEXTS.slice(at, at + 30).map((text): FallbackStep => stepOf(text));
      const text = TEXTS[at] ?? '';
      const site = {
        name: text,
        url: `https://host/${text}`,
        revision: 62 as const,
        tokenHow: text,
        ca: text,
      };
      const head = { runId: text, title: text, at: text, writtenAt: new Date(0), path: text, known: [text] };
      const fallback = renderFallback(head, steps, { instance: site, target: site });
      expect(actingIn(fallback)).toBe('');
      const { status, stderr } = spawnSync('bash', ['-n'], {
        input: fallback,
        encoding: 'utf8',
        cwd: folder,
      });
      expect(status, stderr).toBe(0);
      expect(stderr).toBe('');
    }
    expect(readdirSync(folder)).toEqual([]);
    count('texts', { renderings: TEXTS.length * 15 });
  });

  test.each(['bash', 'sh'])('passes every text on as the one word that it shows (%s)', (shell) => {
    const words = TEXTS.map(quoted);
    for (const [at, word] of words.entries()) expect(actingIn(word), JSON.stringify(TEXTS[at])).toBe('');
    const script = `printf '%s\\0' ${words.join(' \\\n')}\n`;
    const { stdout, stderr } = spawnSync(shell, [], {
      input: script,
      cwd: folder,
      maxBuffer: 2 ** 26,
      env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    });
    expect(stderr.toString()).toBe('');
    expect(stdout.toString('utf8').split('\0').slice(0, -1)).toEqual(TEXTS.map((text) => show(text, 2_000)));
    expect(readdirSync(folder)).toEqual([]);
  });
});

function stepOf(text: string): FallbackStep {
  return {
    state: text,
    title: text,
    notes: [text],
    actions: [
      { do: 'run', command: ['cf', text], otherwise: { when: text, command: [text] } },
      { do: 'by-hand', what: text, copy: [text] },
      { do: 'ask', as: 'ANSWERED', what: text, suggested: text },
      { do: 'ask-secret', as: 'SECRET', what: text },
      { do: 'choose-key', as: 'KEY', what: text },
      { do: 'confirm-name', name: text, what: text },
      {
        do: 'call',
        on: 'instance',
        method: 'PATCH',
        path: '/backups/:id',
        id: { known: text },
        body: { [text]: { known: text } },
        once: { lookFirst: text, list: '/backups' },
      },
      { do: 'wait', on: 'target', task: 'backup', id: { known: text } },
      { do: 'wait-instance', on: 'instance', since: text },
      { do: 'download-and-open', on: 'instance', id: { known: text }, key: 'KEY', file: text },
    ],
  };
}

const CHALLENGE: Challenge = {
  ...{ order: 'o', run: 'r', runbook: 'b', mode: 'LIVE', instance: 'i', target: 't', url: 'u', state: 's' },
  ...{ entry: '1', requester: 'q', asked: '2026-01-01T00:00:00.000Z', expires: '2026-01-01T01:00:00.000Z' },
  ...{ plan: 'p', prompt: 'p', facts: [], overrides: [], calls: [] },
};

describe('what a second person is shown', () => {
  test('is printable ASCII, whatever the request contains, and nothing that the request does not say', () => {
    const names = Object.keys(CHALLENGE).filter((name) => !['asked', 'expires'].includes(name));
    for (const text of TEXTS) {
      const fields = names.map((name) => [name, Array.isArray(CHALLENGE[name as never]) ? [text] : text]);
      const written = challengeText({ ...CHALLENGE, ...Object.fromEntries(fields) });
      expect(written.search(/[^\n\x20-\x7e]/u)).toBe(-1);
      expect(written.split('\n')).toHaveLength(names.length + 7);
      expect(challengeText(parseChallenge(written))).toBe(written);
    }
    count('texts', { renderings: TEXTS.length * names.length });
  });

  test('is refused in harmless words if it is not a request', () => {
    const proper = challengeText(CHALLENGE);
    for (const text of TEXTS)
      for (const request of [text, proper.replace('order: o', `order: ${text}`), `${proper}${text}`]) {
        let thrown: unknown;
        try {
          parseChallenge(request);
        } catch (error) {
          thrown = error;
        }
        // Some of them are plain enough to stand in a request as they are.
        if (thrown === undefined) expect(actingIn(request)).toBe('');
        else expect(actingIn(said(thrown))).toBe('');
      }
    count('texts', { renderings: TEXTS.length * 3 });
  });

  test('comes with signatures and lists of signers that have no effect either', {
    timeout: 1_200_000,
  }, async (context) => {
    const people = somePeople(context);
    const ada = people.person('ada@example.com');
    const signature = ada.sign('the request');
    const check = async (sig: string, signers: string) => {
      const allowedSigners = people.file('allowed', signers);
      try {
        const { principals, key } = await verifySignature('the request', sig, { allowedSigners });
        return `${principals.join(' ')} ${key}`;
      } catch (thrown) {
        return said(thrown);
      }
    };
    for (const text of SHORT) expect(actingIn(await check(text, ada.line()))).toBe('');
    // Each of these asks OpenSSH.
    for (const text of SHORT.filter((_, at) => at % 60 === 0)) {
      const names = [
        `${text} ${ada.publicKey}`,
        `"${text}" ${ada.publicKey} ${text}`,
        `x,${text} ${ada.publicKey}`,
      ];
      for (const line of [...names, `x namespaces="${text}" ${ada.publicKey}`])
        expect(actingIn(await check(signature, `# ${text}\n${line}\n`))).toBe('');
      const armored = signature.replace('\n', `\n${text}\n`);
      expect(actingIn(await check(armored, `ada ${NAMESPACE} ${text}\n${ada.line()}`))).toBe('');
    }
    count('texts', { renderings: SHORT.length + Math.ceil(SHORT.length / 60) * 5 });
  });
});

test('a transcript of what a hostile service says is lines of printable ASCII', () => {
  const transcript = openTranscript(folder, 'r');
  for (const text of SHORT) transcript.write(callOf(text));
  transcript.close();
  expect(transcript.problem).toBeUndefined();
  const written = readFileSync(transcriptPath(folder, 'r'), 'utf8');
  expect(written.search(/[^\n\x20-\x7e]/u)).toBe(-1);
  const lines = written.split('\n').slice(0, -1);
  expect(lines).toHaveLength(SHORT.length);
  for (const line of lines) JSON.parse(line);
  count('texts', { renderings: SHORT.length * 12 });
});

function callOf(text: string): HttpCall {
  const answer = JSON.stringify({ [text]: text, list: [text] });
  return {
    ...{ kind: 'service', to: text, at: new Date(0), method: text, url: `https://host/${text}`, error: text },
    ...{ headers: { accept: text, [text]: text }, body: answer, secrets: [], hidden: [], status: 200 },
    ...{ answerHeaders: { date: text, 'retry-after': [text, text], [text]: text }, bytes: 2, sha256: text },
    ...{ answer, ms: 1 },
  };
}
