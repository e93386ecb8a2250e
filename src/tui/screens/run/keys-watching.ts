import type { Binding } from './key-binding.ts';
import { pagingIn } from './keys-around.ts';

/** Keys over a run that somebody else drives: nothing can be answered, and it is left without a question. */
export const WATCHING: readonly Binding[] = [
  ...pagingIn(['looking']),
  {
    intent: 'help',
    keys: ['?'],
    modes: ['looking'],
    shown: '?',
    label: 'help',
    description: 'show this help',
    onScreen: 'always',
  },
  {
    intent: 'suspend',
    keys: ['ctrl+z'],
    modes: ['looking'],
    shown: 'Ctrl-Z',
    label: 'to the shell',
    description: 'suspend to the shell; `fg` comes back',
    onScreen: 'never',
  },
  {
    intent: 'close',
    keys: ['escape', 'q', 'ctrl+c'],
    modes: ['looking'],
    shown: 'Esc',
    label: 'stop watching',
    description: 'stop watching; the run goes on',
    onScreen: 'always',
  },
];
