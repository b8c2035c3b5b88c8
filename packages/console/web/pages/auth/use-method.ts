import { useMounts, type MountShown } from '../../api/mounts.ts';
import { usePlace } from '../../parts/place.ts';
import { methodOf, type Method, type MethodNoun } from './methods.ts';

/** The login method of the address. */
export interface MethodHere {
  readonly mount: string;
  /** Undefined while it is read, and where the token cannot see it. */
  readonly shown: MountShown | undefined;
  readonly method: Method | undefined;
  readonly noun: MethodNoun | undefined;
  readonly read: boolean;
}

export function useMethod(): MethodHere {
  const { mount = '', noun: path } = usePlace().params;
  const mounts = useMounts('auth');
  const shown = mounts.data?.mounts.find((one) => one.path === mount);
  const method = methodOf(shown?.type);
  return { mount, shown, method, noun: method?.nouns.find((one) => one.path === path), read: !mounts.isPending };
}
