import type { RunContext } from '../context.ts';
import type { FallbackPart } from '../parts/runbook.ts';

/** A look at the instance before anything is changed. */
export const lookFallback: FallbackPart<RunContext> = ({ run: { instance } }, at) => [
  {
    state: at ?? 'preflight',
    title: `look at ${instance}`,
    notes: ['It has to be available, and no backup or restore may be queued or running.'],
    actions: [
      { do: 'call', on: 'instance', method: 'GET', path: '' },
      { do: 'call', on: 'instance', method: 'GET', path: '/backups-config' },
      { do: 'call', on: 'instance', method: 'GET', path: '/backups' },
    ],
  },
];

/** What a person writes down, because nobody else does. */
export function recordFallback(what: string): FallbackPart<RunContext> {
  return (_context, at) => [
    { state: at ?? 'record', title: 'write it down', notes: [], actions: [{ do: 'by-hand', what }] },
  ];
}
