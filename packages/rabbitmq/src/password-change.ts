import type { Proof } from '@strongroom/rotation';
import { putUser, type Broker } from './broker.ts';
import { BrokerMisused } from './broker-failed.ts';

/** Gives a user another password. A write of RabbitMQ sets the tags too, so they are read before. @throws BrokerMisused where there is no such user, BrokerFailed */
export async function changePassword(broker: Broker, username: string, password: string, signal: AbortSignal): Promise<void> {
  const tags = await broker.tagsOf(username, signal);
  if (tags === undefined) throw new BrokerMisused(`RabbitMQ has no user ${JSON.stringify(username)}`);
  await broker.change(putUser(username, password, tags.join(',')), signal);
}

/** Which of two passwords RabbitMQ takes. @throws BrokerFailed */
export async function provePassword(
  broker: Broker,
  username: string,
  { candidate, current }: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
): Promise<Proof> {
  const { result } = await broker.login(signal, { username, password: candidate });
  if (result === 'accepted') return 'candidate';
  if (result === 'unprovable') return 'unprovable';
  if (current === undefined) return 'neither';
  const previous = await broker.login(signal, { username, password: current });
  return previous.result === 'accepted' ? 'current' : 'neither';
}
