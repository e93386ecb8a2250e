import type { Report } from '../model/model.ts';
import type { Rotation } from '../model/model-rows.ts';
import type { Section } from './document.ts';
import { blanks } from './pages-proven.ts';
import { factRows } from './words.ts';

const GROUPS: readonly (readonly [keyof Rotation, string])[] = [
  ['oldKey', 'Old key'],
  ['newKey', 'New key'],
  ['storage', 'Storage'],
  ['dualControl', 'Dual control'],
  ['call', 'The call that changed it'],
  ['proof', 'Proof after the change'],
  ['olderBackups', 'Older backups'],
  ['disposition', 'What becomes of the old key'],
  ['substitution', 'Check for an unauthorized substitution'],
];

/** The record that an auditor of key management asks for. */
export function rotationSections(report: Report): Section[] {
  const { rotation } = report;
  if (rotation === undefined) return [];
  const rows = GROUPS.flatMap(([group, title]) => {
    const facts = factRows(rotation[group]);
    const stated = facts.length === 0 ? [['not stated', ''] as const] : facts;
    return stated.map(([label, value], index) => [index === 0 ? title : '', label, value]);
  });
  return [
    {
      title: 'Key rotation',
      blocks: [
        {
          kind: 'text',
          text:
            'Keys are named by fingerprint, a keyed hash (HMAC-SHA-256, 12 hex digits) made with a secret of this key store: ' +
            'within it fingerprints can be compared, and with those of another store they cannot. ' +
            'A key itself is in no record.',
        },
        { kind: 'table', caption: 'The change of the key', head: ['Group', 'Fact', 'Value'], rows },
        ...blanks(report, 'rotation'),
      ],
    },
  ];
}
