// A lost connection: a banner while it lasts, and fresh data when it is back.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isReachable, NetworkError } from '../../api/client';
import { Icon } from '../display/icon';
import styles from './network-banner.module.css';

const RETRY_MS = 2000;

const isLoss = (error: unknown): boolean => error instanceof NetworkError;

export function NetworkBanner() {
  const client = useQueryClient();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const lose = () => setLost(true);
    // The failure itself: other events of a query or mutation that has failed follow with every render of its view.
    const onQuery = client.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error' && isLoss(event.action.error)) lose();
    });
    const onMutation = client.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error' && isLoss(event.action.error)) lose();
    });
    window.addEventListener('offline', lose);
    return () => {
      onQuery();
      onMutation();
      window.removeEventListener('offline', lose);
    };
  }, [client]);
  useEffect(() => {
    if (!isLost) return undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      const isBack = await isReachable();
      isLooking = false;
      if (!isBack) return;
      // First: one of the requests that follow may fail again.
      setLost(false);
      await client.refetchQueries(
        { predicate: ({ state }) => isLoss(state.error) },
        { cancelRefetch: false },
      );
    };
    const timer = setInterval(() => {
      void look();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [isLost, client]);
  return (
    <div role="status">
      {isLost && (
        <div className={styles.banner}>
          <Icon name="warning" /> The service cannot be reached. This page continues when it is back.
        </div>
      )}
    </div>
  );
}
