import { describe, expect, test } from '@jest/globals';
import { EventReader } from '../web/live/live-event.ts';
import { makesStale } from '../web/live/stale-reads.ts';

describe('the stream of events, as the console reads it', () => {
  const TEXT =
    'retry: 2000\nid: a.1\nevent: ready\ndata: {}\n\nid: a.2\nevent: secret.written\ndata: {"kind":"secret.written","name":"x"}\n\n: ping\nid: a.9\n\n';

  test('is the same however it is cut into pieces', () => {
    for (const size of [1, 2, 7, 1_000]) {
      const reader = new EventReader();
      const events = [];
      for (let at = 0; at < TEXT.length; at += size) events.push(...reader.take(TEXT.slice(at, at + size)));
      expect(events).toEqual([{ kind: 'ready' }, { kind: 'secret.written', name: 'x' }]);
      expect(reader.cursor).toBe('a.9');
    }
  });
});

describe('what an event makes stale', () => {
  const written = { kind: 'secret.written', mount: 'team/kv/', name: 'shop/ünï db' };

  test.each([
    'team%2Fkv/data/shop/%C3%BCn%C3%AF%20db',
    'team/kv/data/shop/%C3%BCn%C3%AF%20db',
    'team/kv/metadata/shop/%C3%BCn%C3%AF%20db',
    'team/kv/metadata/shop/',
    'team/kv/metadata/shop',
  ])('a secret: %s', (path) => {
    expect(makesStale(written, path)).toBe(true);
  });

  test.each(['team/kv/data/shop', 'team/kv/metadata/', 'other/data/shop/%C3%BCn%C3%AF%20db', 'sys/mounts', 'team/kv/data/shop/%'])(
    'a secret, and not %s',
    (path) => {
      expect(makesStale(written, path)).toBe(false);
    },
  );

  test('a rotation: everything of its mount, and what needs a person', () => {
    const event = { kind: 'rotation.failed', mount: 'db/', name: 'report' };
    expect(
      ['db/static-roles/report', 'db/failing', 'sys/schedule', 'sys/internal/ui/attention'].map((path) => makesStale(event, path)),
    ).toEqual([true, true, true, true]);
    expect(['dbx/failing', 'sys/mounts', 'sys/internal/ui/attentions'].map((path) => makesStale(event, path))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('a reset: everything', () => {
    expect(makesStale({ kind: 'reset' }, 'sys/mounts')).toBe(true);
  });

  test('kinds that this console does not know: nothing', () => {
    expect(makesStale({ kind: 'constructor.x', mount: 'db/' }, 'db/failing')).toBe(false);
    expect(makesStale({ kind: 'new.thing' }, 'sys/mounts')).toBe(false);
  });
});
