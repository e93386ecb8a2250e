import type { Binding } from './key-binding.ts';

/** Keys over a run that has ended. */
export const ENDING: readonly Binding[] = [
  {
    intent: 'close',
    keys: ['enter', 'q', 'escape', 'ctrl+c'],
    modes: ['over'],
    shown: 'Enter q',
    label: 'close',
    description: 'close the screen once the run is over',
    onScreen: 'always',
  },
  {
    intent: 'report',
    keys: ['o'],
    modes: ['over'],
    shown: 'o',
    label: 'report',
    description: 'read the report of a run that is over',
    onScreen: 'always',
  },
  {
    intent: 'copy-command',
    keys: ['y'],
    modes: ['over'],
    shown: 'y',
    label: 'copy command',
    description: 'copy the command that writes the report',
    onScreen: 'always',
  },
  {
    intent: 'copy-anchor',
    keys: ['Y'],
    modes: ['over'],
    shown: 'Y',
    label: 'copy anchor',
    description: 'copy the id of the run and its anchor, for the ticket',
    onScreen: 'always',
  },
];
