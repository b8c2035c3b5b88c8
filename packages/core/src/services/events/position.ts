/** How far somebody has followed: for each life of a server, the number of its last event that is known. */
export type Position = ReadonlyMap<string, number>;

/** Longer than a position of any sensible number of servers. */
const LONGEST = 4_096;

/** As `id` of an event, which a client sends back as `Last-Event-ID`. */
export function positionText(position: Position): string {
  return [...position].map(([life, number]) => `${life}.${number}`).join('~');
}

/** Undefined for what no server has sent. */
export function readPosition(text: string): Position | undefined {
  if (text.length > LONGEST) return undefined;
  const position = new Map<string, number>();
  for (const part of text.split('~')) {
    const match = /^([\w-]{1,32})\.(\d{1,15})$/.exec(part);
    if (!match) return undefined;
    position.set(match[1]!, Number(match[2]));
  }
  return position;
}
