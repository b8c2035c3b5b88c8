import { ClientSideError } from '@strongroom/sync-sdk';

/** Bytes of a value of custom metadata. */
const LONGEST = 512;

/**
 * The servers that a copy will have come through: those of the secret itself, and this one. '' where none is known.
 * @throws ClientSideError where the destination is one of them
 */
export function onwardOrigin(origin: string | undefined, own: string | undefined, destination: string | undefined): string {
  const passed = (origin ?? '').split(' ').filter(Boolean);
  if (destination !== undefined && destination === own) {
    throw new ClientSideError('address is that of this very server: a copy in its own mount would be a secret to copy again');
  }
  if (destination !== undefined && passed.includes(destination)) {
    throw new ClientSideError(
      'the secret is a copy that has come from the server at address: sync does not copy in circles. Remove one of the associations',
    );
  }
  const onward = [...new Set([...passed, ...(own === undefined ? [] : [own])])].join(' ');
  if (Buffer.byteLength(onward) > LONGEST) {
    throw new ClientSideError('the secret is a copy that has come through too many servers to write them all down');
  }
  return onward;
}
