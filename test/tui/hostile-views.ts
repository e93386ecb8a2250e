import type { FollowUpView, RunView, WayOn } from '../../src/view/run-view.ts';

/** Texts that act on a terminal, hide, or lie. Each carries a marker that proves that it was drawn. */
export const HOSTILE: readonly string[] = [
  '\u001b[35mHURT\u001b[0m',
  '\u001b[8mHURT',
  '\u001b]8;;https://evil.example/\u0007HURT\u001b]8;;\u0007',
  '\u001b]52;c;SFVSVA==\u0007HURT',
  '\u001b]0;HURT\u001b\\HURT',
  '\u001bPq#HURT\u001b\\HURT',
  '\u001b[2J\u001b[HHURT',
  '\u001b[?1049lHURT\u001bc',
  '\u009b35mHURT\u009d0;x\u009cHURT',
  'HURT\rHURT\bHURT\u0007',
  '\u202eTRUH\u202c HURT',
  '\u2066HURT\u2069\u200b\u200d\ufeff',
  '\u{e0048}\u{e0055}HURT',
  'HURT\u0085HURT\u2028HURT\u2029',
  'HURT\u0000\u007f\u00ad',
  'HURT\n\n\nHURT',
];

/** What must never be in an output because of such a text. Sequences of ours are taken out first. */
export const FORBIDDEN =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

/**
 * The escape sequences that Ink and this UI write; nothing else may remain. No hostile text has one of these
 * colours.
 */
export function withoutOurSequences(bytes: string): string {
  // Of what names the window or notifies, only what holds no control character is ours.
  const named = bytes.replace(/\u001b\[2[23];2t|\u001b\](?:2|9);[^\p{Cc}]*\u0007/gu, '');
  return named.replace(
    /\u001b\[(?:\?(?:1049|25|2004|2026)[hl]|\d*[ABCDEFGJK]|\d*;?\d*H|(?:(?:[127];)*(?:[01237]|22|27|3[136]|39))m)/gu,
    '',
  );
}

export const HOSTILE_KINDS = [
  'choice',
  'typed-name',
  'secret',
  'time',
  'text',
  'followUps',
  'outcome',
] as const;
type HostileKind = (typeof HOSTILE_KINDS)[number];

/** A view with one text in every place that can hold one. */
export function hostileView(text: string, kind: HostileKind): RunView {
  const option = {
    event: 'A',
    label: text,
    hint: text,
    recommended: false,
    needs: { what: 'reason', prompt: text },
  } as const;
  const options = [option, { ...option, event: 'B', disabled: text }];
  const followUp: FollowUpView = {
    id: text,
    what: text,
    subject: text,
    owner: text,
    age: 1,
    left: -1,
    commands: [text],
    doable: 'cf',
    closed: undefined,
  };
  const way: WayOn = { when: text, command: text, leadsTo: { kind: 'add-key', instance: text } };
  return {
    followUps: [followUp, { ...followUp, closed: { tone: 'good', text } }],
    objectives: [{ name: 'RTO', limit: 1, value: 2, running: true, tone: 'bad', detail: text }],
    runId: text,
    runbook: text,
    title: text,
    instance: text,
    mode: 'LIVE',
    paused: true,
    clock: text,
    elapsed: 1,
    rail: [{ id: 'a', title: text, state: 'current', note: text }],
    prose: {
      title: text,
      markdown: `${text}\n\n- **${text}** \`${text}\`\n\n> ${text}\n\n\`\`\`\n${text}\n\`\`\``,
    },
    facts: [{ label: text, value: text, tone: 'bad' }],
    activity: { title: text, seconds: 1, progress: { kind: 'task', status: text } },
    log: [{ at: text, text, tone: 'warn' }],
    banner: { tone: 'bad', text, hints: [text] },
    ...(kind === 'choice' && {
      question: { kind, prompt: text, options, trouble: { facts: [], commands: [way], tries: text } },
    }),
    ...(kind === 'typed-name' && {
      question: {
        kind,
        prompt: text,
        expected: text,
        event: 'A',
        stakes: { overwritten: text, lost: text, lostSince: text, wayBack: text },
        options,
      },
    }),
    ...(kind === 'secret' && {
      question: { kind, prompt: text, event: 'A', twice: false, isNew: false, minLength: 1, options },
    }),
    ...(kind === 'time' && {
      question: {
        kind,
        prompt: text,
        event: 'A',
        earliest: text,
        latest: text,
        suggested: text,
        marks: { incident: text, backups: [text] },
        options,
      },
    }),
    ...(kind === 'text' && {
      question: { kind, prompt: text, event: 'A', pattern: { source: '.', says: text }, options },
    }),
    ...(kind === 'followUps' && {
      question: {
        kind,
        prompt: text,
        open: [followUp],
        close: 'operator.close',
        skip: 'operator.skip',
        doNow: 'operator.doNow',
        options,
      },
    }),
    ...(kind === 'outcome' && {
      outcome: {
        tone: 'bad',
        verdict: 'not proven',
        title: text,
        took: text,
        ways: [way],
        remarks: [{ tone: 'bad', text }],
        report: { file: text, command: text },
        anchor: text,
        groups: [{ title: text, facts: [{ label: text, value: text, tone: 'bad' }] }],
      },
    }),
  };
}
