import { expect, test } from 'vitest';
import { failureOf } from '../../../src/base/errors.ts';
import { auditFactsIn } from '../../../src/commands/app/load-audit.ts';

function failed(said: string) {
  try {
    auditFactsIn('', said, 2);
  } catch (thrown) {
    const { shortMessage, hints } = failureOf(thrown);
    return [shortMessage, ...hints];
  }
  return [];
}

test('an audit that could not be made says why in the words of the command, with its hints', () => {
  const error = { schema: 'lifeboat.error/1', message: 'not copied whole', hints: ['nothing was verified'] };
  expect(failed(`a warning\n${JSON.stringify(error)}\n`)).toEqual([
    'not copied whole',
    'nothing was verified',
  ]);
});

test('an audit without output names its exit code and the command', () => {
  expect(failed('')).toEqual([
    'the command ended with exit code 2',
    'try it on the command line: lifeboat audit verify',
  ]);
});
