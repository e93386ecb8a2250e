import type { Ended } from '../bench-kit/product.ts';
import type { Stage } from './stage.ts';

/**
 * What can be read of a question in lines: its words, its numbered answers, and what is wanted below them.
 */
interface Asked {
  readonly prompt: string;
  readonly options: readonly { readonly number: string; readonly label: string }[];
  readonly name: string | undefined;
  /** The name was typed, and a second person has to approve what it confirms. */
  readonly isForAnother: boolean;
}

/** What a person types where the answer is up to a second one. */
const LEAVES = '/q';
const FOR_ANOTHER = 'refused: a second person has to approve';

/** Whether a process ended because the person at its terminal left the answer to a second one. */
export function isLeftToAnother({ code, stderr }: Ended): boolean {
  return code === 130 && stderr.includes(FOR_ANOTHER);
}

/**
 * The line that a person types who knows the service: what a lost answer has become is read from the
 * service's own ledger, which a responder sees in its dashboard.
 */
export function lineFor(text: string, stage: Stage): string {
  const { prompt, options, name, isForAnother } = read(text);
  if (name !== undefined) return isForAnother ? LEAVES : name;
  if (prompt.includes('how do you know')) return 'seen in the dashboard';
  const numberOf = (wanted: string) => options.find(({ label }) => label.startsWith(wanted))?.number;
  const { deployments, restores } = landed(stage);
  const adopt = options.find(({ label }) => label.startsWith('adopt '));
  if (adopt !== undefined) return adopt.number;
  const begun = numberOf('it has started');
  if (begun !== undefined && deployments > 0) return begun;
  if (begun === undefined && restores > 0 && prompt.includes('restore')) {
    const later = numberOf('wait and look again');
    if (later !== undefined) return later;
  }
  const recommended = options.find(({ label }) => label.includes('(recommended)'));
  const again = numberOf('try again') ?? numberOf('let the platform rebind') ?? numberOf('let cf rebind');
  return numberOf('it never happened') ?? recommended?.number ?? again ?? 'q';
}

function landed({ bench }: Stage): { deployments: number; restores: number } {
  const { instances } = bench.server;
  const sum = (count: (of: (typeof instances)[number]) => number) =>
    instances.reduce((total, instance) => total + count(instance), 0);
  return {
    deployments: sum(({ deployments }) => deployments.length),
    restores: sum(({ restores }) => restores.length),
  };
}

/** Reads the newest question of what has been written so far. */
function read(text: string): Asked {
  const lines = text.slice(Math.max(0, text.lastIndexOf('question: '))).split(/\r?\n/u);
  const [, name] = /^type (\S+) and Enter to confirm/mu.exec(lines.join('\n')) ?? [];
  return {
    prompt: text.endsWith('how do you know?: ') ? 'how do you know' : (lines[0] ?? ''),
    options: lines.flatMap((line) => {
      const [, number, label] = /^ {2}(\d+) (.*)$/u.exec(line) ?? [];
      return number === undefined || label === undefined ? [] : [{ number, label }];
    }),
    name,
    isForAnother: lines.join('\n').includes(FOR_ANOTHER),
  };
}
