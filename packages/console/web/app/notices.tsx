import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useState } from 'react';

const View = lazy(() => import('./notices-view.tsx'));

/** The corner where short messages appear. It is loaded with the first of them, which waits in the library's store. */
export function Notices() {
  const { notifications } = useNotifications();
  const [needed, setNeeded] = useState(false);
  if (!needed && notifications.length > 0) setNeeded(true);
  return (
    needed && (
      <Suspense fallback={null}>
        <View />
      </Suspense>
    )
  );
}
