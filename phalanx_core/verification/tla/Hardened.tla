------------------------------- MODULE Hardened -------------------------------
(* The hardened protocol as a linearizable store sees it. Engines prepare their      *)
(* transactions from an old snapshot, write sets included, and a transaction comes   *)
(* late, more than once or never. Workers and agents speak by tokens (job uid,       *)
(* epoch), old ones among them. Actions have the names of phalanx_core.reformation,  *)
(* and what is proposed (its phase COMMIT) is an engine's memory here: txn.          *)
(* Each guard is a constant, so that a configuration can take it away.               *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Jobs, Leaves,    \* how many
  Share,           \* leaves of each job at the start; those left over are free
  Engine,          \* replicas
  MaxFail,         \* leaves that die at most
  MaxHeal, MaxSuspect, MaxResize, MaxRelease, MaxLose, \* how often that happens at most
  MaxEpoch,        \* states with a later epoch are not followed
  Pin,             \* a plan keeps every healthy leaf of its job (F1)
  GEpoch,          \* a commit compares token and phase of the epoch record
  GLeaf,           \* a commit claims free leaves and its own only
  GLive,           \* a commit compares the heartbeats of what it claims (F2)
  GSealPhase,      \* a seal needs a job that runs (F6)
  GSealToken,      \* a seal compares the token's epoch (Lemma 1)
  GUid,            \* tokens name the job, not only its epoch (F15)
  GRun,            \* the end of a restore compares token and phase
  GDetect,         \* a detection compares token and phase
  GFence,          \* what is given up is fenced before it is free (F11)
  GLost,           \* a leaf that died and healed is lost to its owner (F12)
  GSuspect,        \* a commit claims no leaf under a verdict (F13)
  GFirst,          \* admission and growth wait for repairs (F14)
  GNewest,         \* a restore takes the newest manifest that can be read (F7)
  Agents,          \* old workers run on until the agent of their leaf ends them
  LoadThenRun      \* Restore chooses a manifest, Run ends its loading

VARIABLES live, suspect, lost, alloc, fenced, uid, epoch, phase, cause, base, sealed,
          txn, reports, spent, \* memory of engines, messages, and the environment's budget
          placed, gone, zombies, forged \* what is true, whether or not the records say so
store == <<live, suspect, lost, alloc, fenced, uid, epoch, phase, cause, base, sealed>>
vars == <<store, txn, reports, spent, placed, gone, zombies, forged>>

Job == 1..Jobs
Leaf == 1..Leaves
None == 0
Idle == [pc |-> "idle"]
Start == [l \in Leaf |-> IF l <= Jobs * Share THEN ((l - 1) \div Share) + 1 ELSE None]

Assigned(j) == {l \in Leaf : alloc[l] = j}
Broken(j) == ~(Assigned(j) \subseteq live \ lost)
Claimable(j) == {l \in Leaf : alloc[l] \in {None, j} /\ l \notin fenced}
Trusted(j) == {l \in live : l \notin suspect \/ alloc[l] = j}
RepairWaits(j) == \E k \in Job \ {j} : Broken(k) \/ (phase[k] = "Plan" /\ cause[k] = "Repair")
MayClaim(j, why, P) ==
  (GFirst /\ why # "Repair" /\ ~(why = "Resize" /\ P \subseteq Assigned(j))) => ~RepairWaits(j)

Init == /\ live = Leaf /\ suspect = {} /\ lost = {} /\ alloc = Start /\ fenced = {}
        /\ uid = [j \in Job |-> 0] /\ epoch = [j \in Job |-> 0]
        /\ phase = [j \in Job |-> "Run"] /\ cause = [j \in Job |-> "Repair"]
        /\ base = [j \in Job |-> None] /\ sealed = [j \in Job |-> {0}]
        /\ txn = [n \in Engine |-> Idle] /\ reports = {}
        /\ spent = [fail |-> 0, heal |-> 0, suspect |-> 0, resize |-> 0, release |-> 0, lose |-> 0]
        /\ placed = [j \in Job |-> {l \in Leaf : Start[l] = j}]
        /\ gone = {} /\ zombies = {} /\ forged = FALSE
-----------------------------------------------------------------------------
\* Leaves: they die, come back, come under a verdict, and are fenced.
Fail(l) == /\ spent.fail < MaxFail /\ l \in live /\ live' = live \ {l}
           /\ lost' = IF GLost /\ alloc[l] # None THEN lost \cup {l} ELSE lost
           /\ gone' = IF alloc[l] # None THEN gone \cup {l} ELSE gone
           /\ spent' = [spent EXCEPT !.fail = @ + 1]
           /\ UNCHANGED <<suspect, alloc, fenced, uid, epoch, phase, cause, base, sealed,
                          txn, reports, placed, zombies, forged>>

Heal(l) == /\ spent.heal < MaxHeal /\ l \notin live /\ live' = live \cup {l}
           /\ suspect' = suspect \ {l} /\ spent' = [spent EXCEPT !.heal = @ + 1]
           /\ UNCHANGED <<lost, alloc, fenced, uid, epoch, phase, cause, base, sealed,
                          txn, reports, placed, gone, zombies, forged>>

Suspect(l) == /\ spent.suspect < MaxSuspect /\ l \in live \ suspect
              /\ suspect' = suspect \cup {l} /\ spent' = [spent EXCEPT !.suspect = @ + 1]
              /\ UNCHANGED <<live, lost, alloc, fenced, uid, epoch, phase, cause, base, sealed,
                             txn, reports, placed, gone, zombies, forged>>

Trust(l) == /\ l \in suspect /\ suspect' = suspect \ {l}
            /\ UNCHANGED <<live, lost, alloc, fenced, uid, epoch, phase, cause, base, sealed,
                           txn, reports, spent, placed, gone, zombies, forged>>

\* The agent of a leaf ended what ran there, and says so.
Fence(l) == /\ l \in fenced /\ l \in live
            /\ fenced' = fenced \ {l} /\ zombies' = zombies \ {l}
            /\ UNCHANGED <<live, suspect, lost, alloc, uid, epoch, phase, cause, base, sealed,
                           txn, reports, spent, placed, gone, forged>>
-----------------------------------------------------------------------------
\* Jobs: they come with an empty manifest of epoch 0, and go in any phase.
Admit(j) == /\ phase[j] = "Gone"
            /\ uid' = [uid EXCEPT ![j] = @ + 1] /\ epoch' = [epoch EXCEPT ![j] = 0]
            /\ phase' = [phase EXCEPT ![j] = "Plan"] /\ cause' = [cause EXCEPT ![j] = "Admit"]
            /\ base' = [base EXCEPT ![j] = None] /\ sealed' = [sealed EXCEPT ![j] = {0}]
            /\ UNCHANGED <<live, suspect, lost, alloc, fenced,
                           txn, reports, spent, placed, gone, zombies, forged>>

Release(j) == /\ spent.release < MaxRelease /\ phase[j] # "Gone"
              /\ alloc' = [l \in Leaf |-> IF alloc[l] = j THEN None ELSE alloc[l]]
              /\ fenced' = IF GFence THEN fenced \cup Assigned(j) ELSE fenced
              /\ zombies' = IF Agents THEN zombies \cup Assigned(j) ELSE zombies
              /\ lost' = lost \ Assigned(j) /\ gone' = gone \ Assigned(j)
              /\ phase' = [phase EXCEPT ![j] = "Gone"]
              /\ sealed' = [sealed EXCEPT ![j] = {}]
              /\ placed' = [placed EXCEPT ![j] = {}]
              /\ spent' = [spent EXCEPT !.release = @ + 1]
              /\ UNCHANGED <<live, suspect, uid, epoch, cause, base, txn, reports, forged>>

Lose(j) == /\ spent.lose < MaxLose
           /\ \E e \in sealed[j] \ {0} : sealed' = [sealed EXCEPT ![j] = @ \ {e}]
           /\ spent' = [spent EXCEPT !.lose = @ + 1]
           /\ UNCHANGED <<live, suspect, lost, alloc, fenced, uid, epoch, phase, cause, base,
                          txn, reports, placed, gone, zombies, forged>>
-----------------------------------------------------------------------------
\* A detection is written too: from a fresh read, or, unguarded, from a notice of old.
Noticed(j) == \E e \in 0..epoch[j] : <<"dead", j, uid[j], e>> \in reports
Detect(j) == /\ \/ phase[j] \in {"Run", "Restore"} /\ Broken(j)
                \/ ~GDetect /\ Noticed(j)
             /\ phase' = [phase EXCEPT ![j] = "Plan"]
             /\ cause' = [cause EXCEPT ![j] = "Repair"] /\ base' = [base EXCEPT ![j] = None]
             /\ UNCHANGED <<live, suspect, lost, alloc, fenced, uid, epoch, sealed,
                            txn, reports, spent, placed, gone, zombies, forged>>

Notice(j) == /\ ~GDetect /\ phase[j] = "Run" /\ Broken(j)
             /\ reports' = reports \cup {<<"dead", j, uid[j], epoch[j]>>}
             /\ UNCHANGED <<store, txn, spent, placed, gone, zombies, forged>>

Prepared(n, j, why, P) ==
  /\ txn' = [txn EXCEPT ![n] = [pc |-> "txn", job |-> j, uid |-> uid[j], epoch |-> epoch[j],
                                why |-> why, plan |-> P, own |-> Assigned(j)]]
  /\ UNCHANGED <<store, reports, spent, placed, gone, zombies, forged>>

Pinned(j) == {l \in Assigned(j) : l \in live /\ l \notin lost /\ l \notin suspect}
Plan(n, j) == /\ txn[n].pc = "idle" /\ phase[j] = "Plan"
              /\ \E P \in SUBSET live :
                   /\ P # {} /\ P \subseteq Claimable(j)
                   /\ Pin => Pinned(j) \subseteq P
                   /\ P \subseteq Trusted(j) /\ MayClaim(j, cause[j], P)
                   /\ Prepared(n, j, cause[j], P)

\* A drain and a resize are planned while the job runs on; only their commit stops it.
Drain(n, j) == /\ txn[n].pc = "idle" /\ phase[j] = "Run" /\ ~Broken(j)
               /\ Assigned(j) \cap suspect # {}
               /\ \E P \in SUBSET (live \ suspect) :
                    /\ P \subseteq Claimable(j) /\ (Assigned(j) \ suspect) \subseteq P
                    /\ Cardinality(P) = Cardinality(Assigned(j))
                    /\ MayClaim(j, "Drain", P) /\ Prepared(n, j, "Drain", P)

Resize(n, j) == /\ txn[n].pc = "idle" /\ phase[j] = "Run" /\ ~Broken(j)
                /\ spent.resize < MaxResize
                /\ \E P \in SUBSET live :
                     /\ P \notin {{}, Assigned(j)} /\ P \subseteq Claimable(j)
                     /\ P \subseteq Assigned(j) \/ Assigned(j) \subseteq P
                     /\ (P \ Assigned(j)) \cap suspect = {} /\ MayClaim(j, "Resize", P)
                     /\ txn' = [txn EXCEPT ![n] =
                          [pc |-> "txn", job |-> j, uid |-> uid[j], epoch |-> epoch[j],
                           why |-> "Resize", plan |-> P, own |-> Assigned(j)]]
                /\ spent' = [spent EXCEPT !.resize = @ + 1]
                /\ UNCHANGED <<store, reports, placed, gone, zombies, forged>>

From(t) == IF t.why \in {"Drain", "Resize"} THEN "Run" ELSE "Plan"
\* Written without a disjunction, of which TLC would make a successor for each branch.
Wanted(t) == t.why = "Drain" => (t.own \ t.plan) \cap (suspect \cup lost \cup (Leaf \ live)) # {}
CommitGuard(t) ==
  /\ GEpoch => (epoch[t.job] = t.epoch /\ phase[t.job] = From(t))
  /\ GUid => uid[t.job] = t.uid
  /\ GLeaf => t.plan \subseteq Claimable(t.job)
  /\ GLive => t.plan \subseteq live
  /\ GSuspect => ((t.plan \ t.own) \cap suspect = {} /\ Wanted(t))
  /\ MayClaim(t.job, t.why, t.plan)

\* The store runs a transaction. Its engine learns so, or does not, and may send it again.
Commit(n) ==
  /\ txn[n].pc = "txn" /\ CommitGuard(txn[n])
  /\ LET t == txn[n]
         freed == t.own \ t.plan IN
       /\ alloc' = [l \in Leaf |-> IF l \in t.plan THEN t.job
                                   ELSE IF l \in t.own THEN None ELSE alloc[l]]
       /\ fenced' = IF GFence THEN fenced \cup freed ELSE fenced
       /\ zombies' = IF Agents THEN zombies \cup freed ELSE zombies
       /\ lost' = lost \ (t.own \cup t.plan) /\ gone' = gone \ (t.own \cup t.plan)
       /\ epoch' = [epoch EXCEPT ![t.job] = t.epoch + 1]
       /\ phase' = [phase EXCEPT ![t.job] = "Restore"]
       /\ cause' = [cause EXCEPT ![t.job] = "Repair"] /\ base' = [base EXCEPT ![t.job] = None]
       /\ placed' = [placed EXCEPT ![t.job] = t.plan]
       /\ forged' = (forged \/ uid[t.job] # t.uid)
  /\ \/ txn' = [txn EXCEPT ![n] = Idle]
     \/ UNCHANGED txn
  /\ UNCHANGED <<live, suspect, uid, sealed, reports, spent>>

\* The store refused; nothing is written, the engine forgets what it proposed.
Abort(n) == /\ txn[n].pc = "txn" /\ ~CommitGuard(txn[n]) /\ txn' = [txn EXCEPT ![n] = Idle]
            /\ UNCHANGED <<store, reports, spent, placed, gone, zombies, forged>>

\* The engine forgets because it restarted, or gave up, or another leads.
Crash(n) == /\ txn[n].pc = "txn" /\ CommitGuard(txn[n]) /\ txn' = [txn EXCEPT ![n] = Idle]
            /\ UNCHANGED <<store, reports, spent, placed, gone, zombies, forged>>
-----------------------------------------------------------------------------
Readable(j) == {e \in sealed[j] : e < epoch[j]}
Restore(j) == /\ LoadThenRun /\ phase[j] = "Restore" /\ ~Broken(j)
              /\ \E e \in Readable(j) :
                   /\ GNewest => \A o \in Readable(j) : o <= e
                   /\ base[j] # e + 1 /\ base' = [base EXCEPT ![j] = e + 1]
              /\ UNCHANGED <<live, suspect, lost, alloc, fenced, uid, epoch, phase, cause, sealed,
                             txn, reports, spent, placed, gone, zombies, forged>>

Loaded(j) == LoadThenRun => (base[j] # None /\ base[j] - 1 \in sealed[j])
Report(j) == /\ phase[j] = "Restore" /\ ~Broken(j) /\ Loaded(j)
             /\ <<"run", j, uid[j], epoch[j]>> \notin reports
             /\ reports' = reports \cup {<<"run", j, uid[j], epoch[j]>>}
             /\ UNCHANGED <<store, txn, spent, placed, gone, zombies, forged>>

\* The workers loaded the manifest, and their report arrives, perhaps late.
Run(j) == /\ \E u \in 0..uid[j], e \in 0..(epoch[j] + 1) :
               /\ <<"run", j, u, e>> \in reports
               /\ GRun => (e = epoch[j] /\ phase[j] = "Restore" /\ (GUid => u = uid[j]) /\
                           (LoadThenRun => (~Broken(j) /\ Loaded(j))))
          /\ phase' = [phase EXCEPT ![j] = "Run"]
          /\ UNCHANGED <<live, suspect, lost, alloc, fenced, uid, epoch, cause, base, sealed,
                         txn, reports, spent, placed, gone, zombies, forged>>

\* Workers of this or an earlier token, of the job or of one that had its name, seal.
Seal(j) == /\ phase[j] # "Gone"
           /\ \E u \in 0..uid[j], e \in 0..epoch[j] :
                /\ GUid => u = uid[j]
                /\ GSealPhase => phase[j] = "Run"
                /\ GSealToken => e = epoch[j]
                /\ sealed' = [sealed EXCEPT ![j] = @ \cup {e}]
                /\ forged' = (forged \/ u # uid[j])
           /\ UNCHANGED <<live, suspect, lost, alloc, fenced, uid, epoch, phase, cause, base,
                          txn, reports, spent, placed, gone, zombies>>

Next == \/ \E l \in Leaf : Fail(l) \/ Heal(l) \/ Suspect(l) \/ Trust(l) \/ Fence(l)
        \/ \E j \in Job : \/ Admit(j) \/ Release(j) \/ Lose(j) \/ Detect(j) \/ Notice(j)
                          \/ Restore(j) \/ Report(j) \/ Run(j) \/ Seal(j)
        \/ \E n \in Engine : \/ Commit(n) \/ Abort(n) \/ Crash(n)
                             \/ \E j \in Job : Plan(n, j) \/ Drain(n, j) \/ Resize(n, j)

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
TypeOK == /\ live \cup suspect \cup lost \cup fenced \subseteq Leaf /\ spent.fail \in 0..MaxFail
          /\ epoch \in [Job -> Nat] /\ uid \in [Job -> Nat]
          /\ phase \in [Job -> {"Gone", "Run", "Plan", "Restore"}]
          /\ alloc \in [Leaf -> Job \cup {None}]
SealBound == \A j \in Job : /\ phase[j] = "Gone" \/ sealed[j] # {}
                            /\ \A e \in sealed[j] : e <= epoch[j]
RunWitness == \A j \in Job : (LoadThenRun /\ phase[j] = "Run" /\ epoch[j] > 0)
                => base[j] \in 1..epoch[j]
RestoreReady == \A j \in Job : phase[j] = "Restore" => Readable(j) # {}
Footprint == \A j \in Job : Assigned(j) = placed[j]
NonEmpty == \A j \in Job : /\ phase[j] \in {"Run", "Restore"} => Assigned(j) # {}
                           /\ phase[j] = "Gone" => Assigned(j) = {}
Exclusive == \A l \in zombies : alloc[l] = None
LostKnown == lost \subseteq gone /\ gone \subseteq lost \cup (Leaf \ live)
NoForgery == ~forged
Ended(j) == phase[j] # "Gone" /\ phase'[j] = "Gone"
Began(j) == phase[j] = "Gone" /\ phase'[j] = "Plan"
Committed(j) == ~Began(j) /\ epoch'[j] # epoch[j]
Missing(j) == Assigned(j) \cap (gone \cup (Leaf \ live))
EpochStep == [][\A j \in Job : Committed(j)
                  => (epoch'[j] = epoch[j] + 1 /\ phase[j] \in {"Plan", "Run"}
                      /\ phase'[j] = "Restore")]_vars
NoTheft == [][\A l \in Leaf : (alloc[l] \in Job /\ alloc'[l] # alloc[l])
                => (epoch'[alloc[l]] = epoch[alloc[l]] + 1 \/ Ended(alloc[l]))]_vars
SealFence == [][\A j \in Job : (sealed'[j] \ sealed[j] # {} /\ ~Began(j))
                  => (sealed'[j] \ sealed[j] = {epoch[j]} /\ phase[j] = "Run")]_vars
RunStep == [][\A j \in Job : (phase'[j] = "Run" /\ phase[j] # "Run")
                => (phase[j] = "Restore" /\ epoch'[j] = epoch[j]
                    /\ (LoadThenRun => Missing(j) = {}))]_vars
NoDeadClaim == [][\A j \in Job : Committed(j) => {l \in Leaf : alloc'[l] = j} \subseteq live]_vars
NoSuspectClaim == [][\A j \in Job : Committed(j)
                       => {l \in Leaf : alloc'[l] = j /\ alloc[l] # j} \cap suspect = {}]_vars
StopReal == [][\A j \in Job :
                 (phase[j] \in {"Run", "Restore"} /\ phase'[j] \notin {phase[j], "Run"})
                   => \/ Missing(j) # {} \/ Ended(j)
                      \/ phase[j] = "Run" /\ Committed(j)]_vars
RepairsFirst == [][\A j \in Job : (Committed(j) /\ (phase[j] = "Run" \/ cause[j] = "Admit")
                                     /\ \E l \in Leaf : alloc'[l] = j /\ alloc[l] # j)
                     => ~RepairWaits(j)]_vars
Chosen(j) == phase[j] = "Restore" /\ base'[j] # base[j] /\ base'[j] # None
RestoreRead == [][\A j \in Job : Chosen(j) => base'[j] - 1 \in Readable(j)]_vars
RestoreNewest == [][\A j \in Job : Chosen(j) => \A e \in Readable(j) : e < base'[j]]_vars
UidFresh == [][\A j \in Job : Began(j) => uid'[j] > uid[j]]_vars
Survivors(j) == {l \in Assigned(j) : l \in live /\ l \notin gone /\ l \notin suspect}
SurvivorsStay == [][\A n \in Engine :
                      (txn[n].pc = "idle" /\ txn'[n].pc = "txn" /\ txn'[n].why # "Resize")
                        => Survivors(txn'[n].job) \subseteq txn'[n].plan]_vars
-----------------------------------------------------------------------------
Bounded == \A j \in Job : epoch[j] <= MaxEpoch
=============================================================================
