import { shellQuoted } from '../../base/shell-quote.ts';
import type { StartWish } from './start-wish.ts';

/** The command that begins the same run. */
export function commandOf(wish: StartWish): string {
  const { runbook, instance, target, backup, to, action, prepare, perform, incident } = wish;
  const flags: readonly (readonly [string, string | undefined])[] = [
    ['--instance', instance],
    ['--target', target],
    ['--backup', backup],
    ['--to', to],
    ['--action', action],
    ['--incident', incident],
  ];
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, shellQuoted(value)]));
  const halves = [...(prepare === true ? ['--prepare'] : []), ...(perform === true ? ['--perform'] : [])];
  return ['lifeboat', 'run', runbook, ...words, ...halves].join(' ');
}
