package controlplane

import (
	"fmt"
	"net"
)

// Ports are the loopback ports of a cluster; those left zero are chosen from
// the free ones.
type Ports struct {
	APIServer int `json:"apiServer"`
	Etcd      int `json:"etcd"`
	EtcdPeer  int `json:"etcdPeer"`
}

// fill gives every zero port a free one. All are held open until the last is
// chosen, so that they differ.
func (p *Ports) fill() error {
	for _, port := range []*int{&p.APIServer, &p.Etcd, &p.EtcdPeer} {
		if *port != 0 {
			continue
		}
		l, err := net.Listen("tcp", loopback(0))
		if err != nil {
			return fmt.Errorf("choose a free port: %w", err)
		}
		defer func() { _ = l.Close() }()
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return fmt.Errorf("choose a free port: unexpected address %s", l.Addr())
		}
		*port = addr.Port
	}
	return nil
}
