import { unprocessable } from './cf-error.ts';
import type { BindingStrategy, BindingWish, CredentialBinding } from './credential-bindings.ts';

/**
 * Throws 422 for a binding that is not allowed, in the platform's words (cloud_controller_ng,
 * `app/actions/service_credential_binding_app_create.rb` and `..._key_create.rb`). Without the strategy
 * `multiple` any bound application is "already bound"; with it, the limit decides (RFC 0040).
 */
export function checkNewBinding(
  wish: BindingWish,
  strategy: BindingStrategy,
  bindings: readonly CredentialBinding[],
  maxBindings: number,
): void {
  if (wish.type === 'key') checkKey(wish, bindings);
  else checkApp(wish, strategy, bindings, maxBindings);
}

function checkApp(
  { app, instance, name }: BindingWish,
  strategy: BindingStrategy,
  bindings: readonly CredentialBinding[],
  maxBindings: number,
): void {
  if (app === undefined) throw unprocessable('No app was specified');
  const existing = bindings.filter(
    (other) => other.app === app && other.instance === instance && !isLeftOver(other),
  );
  for (const { operation, guid, name: before } of existing) {
    if (operation.type === 'create' && strategy === 'single') {
      throw unprocessable('The app is already bound to the service instance');
    }
    if (operation.type === 'create' && operation.state !== 'succeeded') {
      const which = `(binding guid: ${guid})`;
      throw unprocessable(
        `There is already a binding in progress for this service instance and app ${which}`,
      );
    }
    if (operation.type === 'delete') {
      throw unprocessable(
        maxBindings === 1
          ? 'The binding is getting deleted or its deletion failed'
          : 'A binding for this service instance and app is getting deleted or its deletion failed',
      );
    }
    if (before !== name) {
      throw unprocessable('The binding name cannot be changed for the same app and service instance');
    }
  }
  if (existing.length >= maxBindings) {
    const limit = `(limit: ${maxBindings}). Consider deleting existing/orphaned bindings.`;
    throw unprocessable(`The app has too many bindings to this service instance ${limit}`);
  }
  if (name === null) return;
  if (bindings.some((other) => other.app === app && other.instance !== instance && other.name === name)) {
    const rule = 'Binding names must be unique for a given service instance and app.';
    throw unprocessable(
      `The binding name is invalid. ${rule} The app already has a binding with name '${name}'.`,
    );
  }
}

function checkKey({ instance, name }: BindingWish, bindings: readonly CredentialBinding[]): void {
  const other = bindings.some(
    (key) => key.type === 'key' && key.instance === instance && key.name === name && !isLeftOver(key),
  );
  if (!other) return;
  const rule = 'Key binding names must be unique.';
  const detail = `The service instance already has a key binding with name '${name}'.`;
  throw unprocessable(`The binding name is invalid. ${rule} ${detail}`);
}

/** A failed creation makes room for the next binding. */
function isLeftOver({ operation }: CredentialBinding): boolean {
  return operation.type === 'create' && operation.state === 'failed';
}
