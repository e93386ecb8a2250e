import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { type KeyStore, memoryStore } from '../../src/keys/key-store.ts';
import { generateKey, openKeyring } from '../../src/keys/keyring.ts';

describe('a keyring', () => {
  it('stores a key under its instance and fingerprint, and gives it back', async () => {
    const store = memoryStore();
    const keyring = openKeyring(store);
    const key = generateKey();
    const fingerprint = await keyring.add('orders', key);
    expect(await keyring.add('orders', key)).toBe(fingerprint);
    expect((await keyring.load('orders', fingerprint))?.equals(key)).toBe(true);
    expect(await store.accounts()).toContain(`orders/${fingerprint}`);
    expect(await keyring.load('orders-dr', fingerprint)).toBeUndefined();
    expect(await keyring.remove('orders', fingerprint)).toBe(true);
    expect(await keyring.load('orders', fingerprint)).toBeUndefined();
  });

  it('gives the fingerprint that openssl gives', async () => {
    const store = memoryStore();
    const fingerprint = await openKeyring(store).fingerprint(new Secret('pässphrase of old'));
    const secret = (await store.get('lifeboat/installation-secret'))?.reveal() ?? '';
    const second = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], {
      input: 'pässphrase of old',
    });
    expect(second.toString()).toContain(`= ${fingerprint}`);
    expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
  });

  it('gives one key other fingerprints in another installation', async () => {
    const key = new Secret('the same key');
    const one = await openKeyring(memoryStore()).fingerprint(key);
    expect(await openKeyring(memoryStore()).fingerprint(key)).not.toBe(one);
  });

  it('lists the keys of an instance and nothing else', async () => {
    const keyring = openKeyring(memoryStore());
    const one = await keyring.add('orders', new Secret('one'));
    const two = await keyring.add('orders', new Secret('two'));
    await keyring.add('orders-dr', new Secret('three'));
    await keyring.store.put('orders/token', new Secret('not a key'));
    expect(await keyring.list('orders')).toEqual([one, two].sort());
    expect(await keyring.list('order')).toEqual([]);
    expect((await keyring.listAll()).size).toBe(2);
    expect((await keyring.listAll()).get('orders')).toEqual([one, two].sort());
  });

  it('makes the signing key once: an ed25519 key in PKCS#8', async () => {
    const store = memoryStore();
    const pem = (await openKeyring(store).signingKey()).reveal();
    expect((await openKeyring(store).signingKey()).reveal()).toBe(pem);
    const key = createPrivateKey(pem);
    expect(key.asymmetricKeyType).toBe('ed25519');
    const text = Buffer.from('a head');
    expect(verify(null, text, createPublicKey(key), sign(null, text, key))).toBe(true);
  });

  it('agrees with another process that uses it for the first time a moment earlier', async () => {
    const store = memoryStore();
    const late: KeyStore = {
      ...store,
      put: async (account, secret) => {
        await store.put(account, new Secret('what the other process made'));
        await store.put(account, secret);
      },
    };
    expect((await openKeyring(late).signingKey()).reveal()).toBe('what the other process made');
  });

  it('can be used once the keychain is unlocked, after it was locked', async () => {
    const store = memoryStore();
    let isLocked = true;
    const keyring = openKeyring({
      ...store,
      get: async (account) => {
        if (isLocked) throw new LifeboatError('keys.locked', 'the OS keychain is locked');
        return store.get(account);
      },
    });
    await expect(keyring.fingerprint(new Secret('key'))).rejects.toMatchObject({ code: 'keys.locked' });
    isLocked = false;
    expect(await keyring.fingerprint(new Secret('key'))).toMatch(/^[0-9a-f]{12}$/);
  });

  it.each(['lifeboat', '', 'orders/x'])('refuses an instance called %j', async (instance) => {
    const keyring = openKeyring(memoryStore());
    await expect(keyring.add(instance, new Secret('key'))).rejects.toMatchObject({
      code: 'keys.bad-instance',
    });
    await expect(keyring.load(instance, '0123456789ab')).rejects.toMatchObject({ code: 'keys.bad-instance' });
    await expect(keyring.list(instance)).rejects.toMatchObject({ code: 'keys.bad-instance' });
  });
});

describe('a generated key', () => {
  it('is 43 characters of base64url, 32 bytes, and never the same', () => {
    const keys = Array.from({ length: 50 }, () => generateKey().reveal());
    expect(keys.every((key) => /^[A-Za-z0-9_-]{43}$/.test(key))).toBe(true);
    expect(keys.every((key) => Buffer.from(key, 'base64url').length === 32)).toBe(true);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
