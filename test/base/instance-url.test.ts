import { describe, expect, test } from 'vitest';
import { isSameInstance } from '../../src/base/instance-url.ts';

const ID = 'db8d8ad3-0000-4000-8000-000000000000';

describe('an instance is known by the id in its address', () => {
  const HERE = `https://pg.example.com/service-instances/${ID}`;

  test.for([
    `https://pg.example.com/v1/instances/${ID}`,
    `https://pg.example.com:443/service-instances/${ID}/`,
    `https://PG.Example.com./service-instances/${ID.toUpperCase()}`,
    `http://pg.example.com/v1/instances/${ID}/`,
    `https://pg2.example.com:8443/shared/service-instances/${ID}`,
  ])('it is the same instance at %s', (url) => {
    expect(isSameInstance(HERE, url)).toBe(true);
  });

  test('another id is another instance, and a text that is not an address is none of them', () => {
    expect(isSameInstance(HERE, HERE.replace('db8d', 'eb8d'))).toBe(false);
    expect(isSameInstance(HERE, 'https://pg.example.com/')).toBeUndefined();
  });
});
