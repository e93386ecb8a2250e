import type { FallbackStep } from '../../../machines/parts/fallback-step.ts';
import { formatTime } from '../../base/format.ts';
import { HELPERS } from './helpers.ts';
import { renderAction } from './render-action.ts';
import { basesOf, type FallbackInstance, type FallbackInstances } from './render-call.ts';
import { quoted, remark } from './shell-text.ts';

/** What the head of a fallback script says of the run. */
export interface FallbackHead {
  readonly runId: string;
  /** The runbook's title. */
  readonly title: string;
  /** What the run was at when the fallback script was written. */
  readonly at: string;
  readonly writtenAt: Date;
  /** Where the fallback script is kept. */
  readonly path: string;
  readonly rehearsal?: boolean | undefined;
  /** What the run has found and done so far, a sentence or a fact each: whoever goes on has to know it. */
  readonly known?: readonly string[];
}

/** More than any run knows; the rest of the fallback script must not be pushed out of sight. */
const MAX_KNOWN = 60;

/**
 * The rest of a run as one script for bash: readable, runnable (`bash FILE`), and to be followed line by
 * line. It holds no secret. Every text in it that comes from outside is one quoted word or one comment,
 * whatever it says. Pure.
 */
export function renderFallback(
  head: FallbackHead,
  steps: readonly FallbackStep[],
  instances: FallbackInstances,
): string {
  const body = steps.flatMap((step, index) => renderStep(step, index + 1, instances, head.runId));
  const end =
    steps.length === 0
      ? ["say 'This run has nothing left to do.'"]
      : ["say '' 'That was the last step. Write down what was done, when and by whom.'"];
  return `${[
    ...headLines(head, steps, instances),
    '',
    '# ---- where things are ----',
    ...instanceLines('INSTANCE', instances.instance),
    ...instanceLines('TARGET', instances.target ?? instances.instance),
    '',
    '# ---- helpers ----',
    HELPERS,
    '# ---- the steps ----',
    ...clearing(body),
    '',
    ...body,
    ...end,
  ].join('\n')}\n`;
}

function headLines(
  head: FallbackHead,
  steps: readonly FallbackStep[],
  instances: FallbackInstances,
): readonly string[] {
  const { instance, target } = instances;
  const into = target === undefined ? '' : ` into ${target.name}`;
  return [
    '#!/usr/bin/env bash',
    remark(
      `FALLBACK SCRIPT${head.rehearsal === true ? ' (a rehearsal)' : ''}: the rest of a recovery, without lifeboat`,
    ),
    '#',
    remark(`run      ${head.runId}`),
    remark(`runbook  ${head.title}`),
    remark(`instance ${instance.name}${into}`),
    remark(`state    ${head.at}`),
    remark(`written  ${formatTime(head.writtenAt.toISOString())} UTC`),
    '#',
    '# Use it when lifeboat, its machine or its keychain is gone. As long as lifeboat can go on, let it:',
    remark(`  lifeboat resume ${head.runId}`),
    '# Never use both at once: a call could be made twice.',
    '#',
    remark(`To run it:     bash ${quoted(head.path)}`),
    '# By hand:       start bash, paste everything down to "the steps", then the steps one by one.',
    '#                The comment above each call is the same call with curl alone.',
    '# It needs bash, curl, openssl, gunzip and tar; for applications cf, logged in.',
    '# It asks before every step. It holds no secret: token and keys are asked for, and are not shown.',
    '#',
    ...knownLines(head.known ?? []),
    ...(steps.length === 0
      ? ['# Nothing is left to be done.']
      : [
          '# What is left:',
          ...steps.map(({ title }, index) => remark(`${String(index + 1).padStart(4)}. ${title}`)),
        ]),
  ];
}

function knownLines(known: readonly string[]): readonly string[] {
  if (known.length === 0) return [];
  return ['# What the run has found and done:', ...known.slice(0, MAX_KNOWN).map(sayKnown), '#'];
}

function sayKnown(line: string): string {
  return remark(`  ${line}`);
}

/** What the person's own environment happens to call by the same name is not taken for an answer. */
function clearing(body: readonly string[]): readonly string[] {
  const asked = body.flatMap((line) =>
    [...line.matchAll(/^\s*(?:ask|ask_secret|choose_key|keep) ([A-Z][A-Z0-9_]*)\b/gu)].map(
      ([, name]) => name,
    ),
  );
  return asked.length === 0 ? [] : [`unset -v ${[...new Set(asked)].join(' ')}`];
}

function instanceLines(prefix: 'INSTANCE' | 'TARGET', instance: FallbackInstance): readonly string[] {
  const { v1, v0 } = basesOf(instance);
  return [
    remark(
      `${instance.name}, interface ${instance.revision === 'v0' ? 'V0' : `V1 of revision ${instance.revision}`}`,
    ),
    `${prefix}_V1=${quoted(v1)}`,
    `${prefix}_V0=${quoted(v0)}`,
    `${prefix}_CA=${quoted(instance.ca ?? '')}`,
    `${prefix}_TOKEN=${quoted(instance.tokenHow)}`,
  ];
}

function renderStep(
  step: FallbackStep,
  number: number,
  instances: FallbackInstances,
  runId: string,
): readonly string[] {
  const opening = [`if step ${number} ${quoted(step.title)}`, ...step.notes.map(quoted)].join(' \\\n  ');
  const lines = step.actions.flatMap((action) => renderAction(action, instances, runId));
  const indented = lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`);
  return [`${opening}; then`, ...(indented.length === 0 ? ['  :'] : indented), 'fi', ''];
}
