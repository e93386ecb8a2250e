import { expect, test } from 'vitest';
import { childEnvironment } from '../../src/base/run-shell.ts';

test('a program gets neither tokens nor the variables that configure lifeboat', () => {
  const env = { PATH: '/bin', ORDERS_TOKEN: 't', LIFEBOAT_STORE: 'postgres://a:b@h/d', LIFEBOAT_HOME: '/h' };
  expect(childEnvironment(['ORDERS_TOKEN'], { LIFEBOAT_WHEN: 'after' }, env)).toEqual({
    PATH: '/bin',
    LIFEBOAT_WHEN: 'after',
  });
});
